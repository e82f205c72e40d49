import type { Texts } from './en';

/** French, whose double punctuation never begins a line. */
export const FR: Texts = {
  pay_title: (merchant, amount) => `Payer ${amount} à ${merchant}`,
  error_title: (title) => `Erreur\u00a0: ${title}`,
  declined_title: (title) => `Paiement refusé – ${title}`,
  to_pay: 'À payer',
  secure: 'Page de paiement sécurisée',
  test_banner: 'Mode test',
  test_banner_detail: 'Aucun argent ne circule ici. Les vraies cartes ne fonctionnent pas.',
  sandbox_time: 'Heure de test',
  reference: 'Référence',
  method: 'Payé avec',
  merchant: 'Commerçant',
  amount: 'Montant',
  card_ending: (brand, digits) => `${brand} se terminant par ${digits}`,
  pay_before: 'À payer avant le',
  time_left: 'Temps restant\u00a0:',

  ways_to_pay: 'Moyens de paiement',
  wallet_heading: 'Payer avec un portefeuille mobile',
  pay_with: (wallet) => `Payer avec ${wallet}`,
  simulated: 'Simulé',
  simulated_detail:
    'Aucun portefeuille ne s’ouvre et aucune de vos cartes n’est utilisée\u00a0: le bouton paie avec une carte fictive.',
  wallet_card: (wallet, card) => `${wallet}, ${card}`,

  card_heading: 'Payer par carte',
  number: 'Numéro de carte',
  expiry: 'Date d’expiration',
  expiry_hint: 'Mois et année, MM\u00a0/\u00a0AA',
  code: 'Code de sécurité',
  code_hint: 'Cryptogramme\u00a0: 3 chiffres au dos, ou 4 au recto',
  name: 'Nom sur la carte',
  pay: (amount) => `Payer ${amount}`,
  paying: 'Paiement en cours…',
  card_privacy: (merchant) =>
    `Votre numéro de carte est transmis directement au prestataire de paiement. ${merchant} ne le voit jamais.`,
  cancel: 'Annuler et ne pas payer',
  no_method: 'Aucun moyen de paiement n’est disponible',
  no_method_detail: (merchant) =>
    `Ce paiement ne peut pas être effectué sur cette page. Demandez un autre moyen de paiement à ${merchant}.`,

  check_fields: 'Vérifiez les informations de votre carte',
  errors: {
    number_missing: 'Saisissez votre numéro de carte',
    number_wrong: 'Vérifiez le numéro de carte\u00a0: il est incomplet ou un chiffre est erroné',
    expiry_missing: 'Saisissez la date d’expiration de votre carte',
    expiry_wrong: 'Saisissez le mois et l’année d’expiration, par exemple 04 / 29',
    expiry_past: 'Cette carte a expiré\u00a0: utilisez-en une autre',
    code_missing: 'Saisissez le code de sécurité de votre carte',
    code_wrong: (digits) => `Saisissez le code de sécurité\u00a0: ${digits} chiffres`,
    name_missing: 'Saisissez le nom inscrit sur votre carte',
    name_wrong: 'Saisissez le nom tel qu’il figure sur votre carte, sans chiffres du numéro',
    number_unusable: 'Cette carte ne peut pas être utilisée ici\u00a0: vérifiez le numéro ou utilisez une autre carte',
  },

  declined: 'Votre carte a été refusée',
  declined_detail:
    'Vous n’avez pas été débité. Vérifiez les informations de votre carte, utilisez une autre carte ou contactez votre banque.',
  wallet_declined_detail:
    'Vous n’avez pas été débité. Choisissez un autre moyen de paiement ou contactez votre banque.',
  declined_by_code: {
    '14': 'Vous n’avez pas été débité. Le numéro de carte n’a pas été accepté\u00a0: vérifiez-le ou utilisez une autre carte.',
    '51': 'Vous n’avez pas été débité. La provision de cette carte est insuffisante\u00a0: utilisez-en une autre.',
    '54': 'Vous n’avez pas été débité. Cette carte a expiré\u00a0: utilisez-en une autre.',
  },
  not_confirmed: 'Votre banque n’a pas confirmé le paiement',
  failed: 'Le paiement a échoué',
  failed_detail: 'Vous n’avez pas été débité. Réessayez ou utilisez une autre carte.',
  attempts_left: (left) => (left === 1 ? 'Il vous reste un essai.' : `Il vous reste ${left} essais.`),
  not_sent: 'Cet essai n’a pas été envoyé',
  not_sent_detail: 'Le prestataire de paiement n’a pas pu être joint. Réessayez dans un instant.',
  not_cancelled: 'Pas encore annulé',
  not_cancelled_detail: 'Le paiement n’a pas pu être annulé pour le moment. Réessayez dans un instant.',

  waiting: 'Votre paiement est en cours de traitement',
  waiting_detail:
    'Votre banque n’a pas encore répondu. Cela peut prendre quelques minutes. Cette page s’actualise toute seule et ne vous débite pas deux fois\u00a0: attendez ici et ne recommencez pas dans la boutique.',
  issuer: 'Votre banque souhaite vérifier votre identité',
  to_issuer: 'Continuer vers votre banque',
  issuer_detail: 'Confirmez le paiement auprès de votre banque. Cette page s’actualise toute seule.',
  other_payment: 'Un paiement est en cours',
  other_payment_detail:
    'Quelqu’un est en train de payer. Cette page continue toute seule ; si ce paiement échoue, vous pourrez payer ici.',
  unknown_charge: 'Nous n’avons pas encore de réponse',
  unknown_charge_detail:
    'Votre paiement peut encore aboutir. Attendez ici et ne recommencez pas dans la boutique. Cette page ne vous débite pas deux fois.',
  check_now: 'Vérifier maintenant',

  ended: {
    completed: {
      heading: 'Paiement effectué',
      detail: (merchant) => `Merci. Votre paiement à ${merchant} a été approuvé.`,
    },
    cancelled: { heading: 'Paiement annulé', detail: () => 'Vous n’avez pas été débité.' },
    expired: {
      heading: 'Ce paiement a expiré',
      detail: (merchant) =>
        `Vous n’avez pas été débité. Si vous souhaitez toujours payer, recommencez chez ${merchant}.`,
    },
    error: {
      heading: 'Le paiement a échoué',
      detail: (merchant) =>
        `Vous n’avez pas été débité. Si vous souhaitez toujours payer, recommencez chez ${merchant}.`,
    },
    given_back: {
      heading: 'Le paiement est remboursé',
      detail: () => 'Votre banque l’a approuvé alors qu’il était déjà terminé. L’argent revient sur votre carte.',
    },
    not_given_back: {
      heading: 'Le paiement n’a pas pu être remboursé',
      detail: (merchant) =>
        `Votre banque l’a approuvé alors qu’il était déjà terminé, et l’argent n’a pas été rendu automatiquement. Contactez ${merchant}.`,
    },
    attempt_failed: {
      heading: 'Le paiement a échoué',
      detail: () => 'Vous n’avez pas été débité. La page de paiement indique si vous pouvez réessayer.',
    },
    already_paid: {
      heading: 'Ce paiement a déjà été effectué',
      detail: () => 'Il n’y a plus rien à payer ici.',
    },
    link_expired: {
      heading: 'Ce lien de paiement a expiré',
      detail: (merchant) =>
        `Il n’est plus possible de payer ici. Si vous souhaitez toujours payer, demandez un nouveau lien à ${merchant}.`,
    },
    no_attempts_left: {
      heading: 'Ce lien de paiement n’est plus utilisable',
      detail: (merchant) =>
        `Trop de paiements ont échoué ici. Si vous souhaitez toujours payer, demandez un nouveau lien à ${merchant}.`,
    },
    ended_by_merchant: {
      heading: 'Ce lien de paiement est fermé',
      detail: (merchant) =>
        `${merchant} l’a fermé. Si vous souhaitez toujours payer, demandez un nouveau lien à ${merchant}.`,
    },
    suspended: {
      heading: 'Aucun paiement pour le moment',
      detail: (merchant: string) => `Rien n’a été débité. ${merchant} n’accepte aucun paiement pour le moment.`,
    },
  },
  earlier_approval: {
    given_back: () =>
      'Votre banque a approuvé un paiement précédent alors qu’il était déjà terminé. Cet argent revient sur votre carte.',
    not_given_back: (merchant) =>
      `Votre banque a approuvé un paiement précédent alors qu’il était déjà terminé, et cet argent n’a pas été rendu automatiquement. Contactez ${merchant}.`,
  },
  may_be_approved:
    'Votre banque peut encore approuver le paiement commencé. Dans ce cas, l’argent revient sur votre carte.',
  last_declined: 'Votre carte a été refusée et il ne vous reste plus d’essai.',
  back_to: (merchant) => `Retour à ${merchant}`,
  may_close: 'Vous pouvez maintenant fermer cette page.',

  cards_heading: 'Cartes de test',
  cards_detail:
    'Choisissez-en une pour remplir le formulaire. Toute date d’expiration à venir et tout code de sécurité à trois chiffres conviennent.',
  cards_card: 'Carte',
  cards_number: 'Numéro',
  cards_meaning: 'Ce qui se passe',
  cards_use: 'Choisir',
  cards_use_named: (title) => `Choisir la carte de test\u00a0: ${title}`,
  test_name: 'Client Test',

  problems: {
    400: { heading: 'Cette demande est illisible', detail: 'Revenez en arrière et réessayez.' },
    403: {
      heading: 'Ce formulaire n’est plus valable',
      detail:
        'Cette demande n’a pas été traitée. Les cookies sont peut-être désactivés, ou la page est restée ouverte trop longtemps. Ouvrez à nouveau la page de paiement.',
    },
    404: {
      heading: 'Page introuvable',
      detail: 'Il n’y a pas de paiement à cette adresse. Vérifiez le lien ou demandez-en un nouveau au commerçant.',
    },
    405: { heading: 'Cela n’est pas possible ici', detail: 'Ouvrez à nouveau la page de paiement.' },
    413: { heading: 'Ce formulaire est trop volumineux', detail: 'Ouvrez à nouveau la page de paiement.' },
    429: {
      heading: 'Trop de demandes',
      detail: 'Cette demande n’a pas été traitée. Ouvrez à nouveau la page de paiement dans un instant.',
    },
    500: {
      heading: 'Une erreur s’est produite de notre côté',
      detail: 'Ouvrez à nouveau la page de paiement dans un instant. Vous ne serez pas débité deux fois.',
    },
    503: {
      heading: 'Nous ne pouvons pas répondre pour le moment',
      detail: 'Ouvrez à nouveau la page de paiement dans un instant. Vous ne serez pas débité deux fois.',
    },
  },
  open_again: 'Ouvrir à nouveau la page de paiement',
};
