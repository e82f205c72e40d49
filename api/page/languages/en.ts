/**
 * Every word of the hosted page. The other languages are tables of the same shape: a text that one lacks does not
 * compile.
 */
export const EN = {
  pay_title: (merchant: string, amount: string) => `Pay ${amount} to ${merchant}`,
  error_title: (title: string) => `Error: ${title}`,
  declined_title: (title: string) => `Declined – ${title}`,
  to_pay: 'To pay',
  secure: 'Secure payment page',
  test_banner: 'Test mode',
  test_banner_detail: 'No money moves here. Real cards do not work.',
  sandbox_time: 'Sandbox time',
  reference: 'Reference',
  method: 'Paid with',
  merchant: 'Merchant',
  amount: 'Amount',
  card_ending: (brand: string, digits: string) => `${brand} ending in ${digits}`,
  pay_before: 'Please pay before',
  time_left: 'Time left to pay:',

  ways_to_pay: 'Ways to pay',
  wallet_heading: 'Pay with a wallet',
  pay_with: (wallet: string) => `Pay with ${wallet}`,
  simulated: 'Simulated',
  simulated_detail: 'No wallet opens and no card of yours is used: pressing a button pays with a made-up card.',
  wallet_card: (wallet: string, card: string) => `${wallet}, ${card}`,

  card_heading: 'Pay by card',
  number: 'Card number',
  expiry: 'Expiry date',
  expiry_hint: 'Month and year, MM\u00a0/\u00a0YY',
  code: 'Security code',
  code_hint: '3 digits on the back, or 4 on the front',
  name: 'Name on card',
  pay: (amount: string) => `Pay ${amount}`,
  paying: 'Paying…',
  card_privacy: (merchant: string) =>
    `Your card number goes straight to the card processor. ${merchant} never sees it.`,
  cancel: 'Cancel and do not pay',
  no_method: 'There is no way to pay here',
  no_method_detail: (merchant: string) =>
    `This payment cannot be made on this page. Please ask ${merchant} for another way to pay.`,

  check_fields: 'Please check your card details',
  errors: {
    number_missing: 'Enter your card number',
    number_wrong: 'Check the card number: it is not complete, or a digit is wrong',
    expiry_missing: 'Enter the expiry date of your card',
    expiry_wrong: 'Enter the expiry date as month and year, for example 04 / 29',
    expiry_past: 'This card has expired: use another one',
    code_missing: 'Enter the security code of your card',
    code_wrong: (digits: number) => `Enter the security code: ${digits} digits`,
    name_missing: 'Enter the name on your card',
    name_wrong: 'Enter the name as it is on your card, without digits of the number',
    number_unusable: 'This card cannot be used here: check the number or use another card',
  },

  declined: 'Your card was declined',
  declined_detail: 'Nothing was charged. Check your card details, use another card, or ask your bank.',
  wallet_declined_detail: 'Nothing was charged. Use another way to pay, or ask your bank.',
  declined_by_code: {
    '14': 'Nothing was charged. The card number was not accepted: check it, or use another card.',
    '51': 'Nothing was charged. There is not enough money on this card: please use another one.',
    '54': 'Nothing was charged. This card has expired: please use another one.',
  },
  not_confirmed: 'Your bank did not confirm the payment',
  failed: 'The payment did not go through',
  failed_detail: 'Nothing was charged. Please try again, or use another card.',
  attempts_left: (left: number) => (left === 1 ? 'You can try one more time.' : `You can try ${left} more times.`),
  not_sent: 'This try was not sent',
  not_sent_detail: 'The card processor could not be reached. Please try again in a moment.',
  not_cancelled: 'Not cancelled yet',
  not_cancelled_detail: 'We could not cancel the payment just now. Please try again in a moment.',

  waiting: 'Your payment is being processed',
  waiting_detail:
    'Your bank has not answered yet. That can take some minutes. This page updates by itself and does not charge you twice: please wait here, and do not start again at the shop.',
  issuer: 'Your bank wants to make sure that it is you',
  to_issuer: 'Continue to your bank',
  issuer_detail: 'Please confirm the payment with your bank. This page updates by itself.',
  other_payment: 'A payment is in progress',
  other_payment_detail:
    'Somebody is paying this right now. This page updates by itself; if that payment fails, you can pay here.',
  unknown_charge: 'We have not heard back yet',
  unknown_charge_detail:
    'Your payment may still go through. Please wait here, and do not start again at the shop. This page does not charge you twice.',
  check_now: 'Check now',

  ended: {
    completed: {
      heading: 'Payment completed',
      detail: (merchant: string) => `Thank you. Your payment to ${merchant} was approved.`,
    },
    cancelled: { heading: 'Payment cancelled', detail: () => 'Nothing was charged.' },
    expired: {
      heading: 'This payment has expired',
      detail: (merchant: string) => `Nothing was charged. If you still want to pay, start again at ${merchant}.`,
    },
    error: {
      heading: 'The payment did not go through',
      detail: (merchant: string) => `Nothing was charged. If you still want to pay, start again at ${merchant}.`,
    },
    given_back: {
      heading: 'The payment is being given back',
      detail: () => 'Your bank approved it after it had ended. The money goes back to your card.',
    },
    not_given_back: {
      heading: 'The payment could not be given back',
      detail: (merchant: string) =>
        `Your bank approved it after it had ended, and the money did not go back by itself. Please contact ${merchant}.`,
    },
    attempt_failed: {
      heading: 'The payment did not go through',
      detail: () => 'Nothing was charged. The payment page shows whether you can try again.',
    },
    already_paid: {
      heading: 'This has been paid',
      detail: () => 'There is nothing left to pay here.',
    },
    link_expired: {
      heading: 'This payment link has expired',
      detail: (merchant: string) =>
        `Nothing can be paid here any more. If you still want to pay, ask ${merchant} for a new link.`,
    },
    no_attempts_left: {
      heading: 'This payment link cannot be used any more',
      detail: (merchant: string) =>
        `Too many payments have failed here. If you still want to pay, ask ${merchant} for a new link.`,
    },
    ended_by_merchant: {
      heading: 'This payment link is closed',
      detail: (merchant: string) =>
        `${merchant} has closed it. If you still want to pay, ask ${merchant} for a new link.`,
    },
    suspended: {
      heading: 'No payments at the moment',
      detail: (merchant: string) => `Nothing was charged. ${merchant} takes no payments at the moment.`,
    },
  },
  /** Beside another outcome than that of this payment. */
  earlier_approval: {
    given_back: () => 'Your bank approved an earlier payment after it had ended. That money goes back to your card.',
    not_given_back: (merchant: string) =>
      `Your bank approved an earlier payment after it had ended, and that money did not go back by itself. Please contact ${merchant}.`,
  },
  /** Of a payment that ended while the customer was at the issuer. */
  may_be_approved:
    'Your bank may still approve the payment that you started. If it does, the money goes back to your card.',
  last_declined: 'Your card was declined, and no further try is left.',
  back_to: (merchant: string) => `Back to ${merchant}`,
  may_close: 'You can close this page now.',

  cards_heading: 'Test cards',
  cards_detail: 'Choose one to fill in the form. Any future expiry date and any security code of three digits work.',
  cards_card: 'Card',
  cards_number: 'Number',
  cards_meaning: 'What happens',
  cards_use: 'Use',
  cards_use_named: (title: string) => `Use test card: ${title}`,
  test_name: 'Test Customer',

  problems: {
    400: { heading: 'This request cannot be read', detail: 'Please go back and try again.' },
    403: {
      heading: 'This form is no longer valid',
      detail:
        'This request was not carried out. Cookies may be switched off, or the page was open for too long. Please open the payment page again.',
    },
    404: {
      heading: 'Page not found',
      detail: 'There is no payment at this address. Please check the link, or ask the merchant for a new one.',
    },
    405: { heading: 'This does not work here', detail: 'Please open the payment page again.' },
    413: { heading: 'This form is too large', detail: 'Please open the payment page again.' },
    429: {
      heading: 'Too many requests',
      detail: 'This request was not carried out. Please open the payment page again in a moment.',
    },
    500: {
      heading: 'Something went wrong on our side',
      detail: 'Please open the payment page again in a moment. You will not be charged twice.',
    },
    503: {
      heading: 'We cannot answer right now',
      detail: 'Please open the payment page again in a moment. You will not be charged twice.',
    },
  },
  open_again: 'Open the payment page again',
};

export type Texts = typeof EN;
