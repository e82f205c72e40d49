import type { Texts } from './en';

/** Dutch. */
export const NL: Texts = {
  pay_title: (merchant, amount) => `${amount} betalen aan ${merchant}`,
  error_title: (title) => `Fout: ${title}`,
  declined_title: (title) => `Geweigerd – ${title}`,
  to_pay: 'Te betalen',
  secure: 'Beveiligde betaalpagina',
  test_banner: 'Testmodus',
  test_banner_detail: 'Hier gaat geen geld om. Echte kaarten werken niet.',
  sandbox_time: 'Sandboxtijd',
  reference: 'Kenmerk',
  method: 'Betaald met',
  merchant: 'Bedrijf',
  amount: 'Bedrag',
  card_ending: (brand, digits) => `${brand} eindigend op ${digits}`,
  pay_before: 'Betaal vóór',
  time_left: 'Resterende tijd:',

  ways_to_pay: 'Betaalmethoden',
  wallet_heading: 'Betalen met een wallet',
  pay_with: (wallet) => `Betalen met ${wallet}`,
  simulated: 'Gesimuleerd',
  simulated_detail:
    'Er opent geen wallet en er wordt geen kaart van jou gebruikt: de knop betaalt met een verzonnen kaart.',
  wallet_card: (wallet, card) => `${wallet}, ${card}`,

  card_heading: 'Betalen met kaart',
  number: 'Kaartnummer',
  expiry: 'Vervaldatum',
  expiry_hint: 'Maand en jaar, MM\u00a0/\u00a0JJ',
  code: 'Beveiligingscode',
  code_hint: 'CVC: 3 cijfers op de achterkant, of 4 op de voorkant',
  name: 'Naam op de kaart',
  pay: (amount) => `${amount} betalen`,
  paying: 'Bezig met betalen…',
  card_privacy: (merchant) =>
    `Je kaartnummer gaat rechtstreeks naar de betaalverwerker. ${merchant} krijgt het niet te zien.`,
  cancel: 'Annuleren en niet betalen',
  no_method: 'Hier kan niet worden betaald',
  no_method_detail: (merchant) =>
    `Deze betaling kan niet op deze pagina worden gedaan. Vraag ${merchant} om een andere betaalmethode.`,

  check_fields: 'Controleer je kaartgegevens',
  errors: {
    number_missing: 'Vul je kaartnummer in',
    number_wrong: 'Controleer het kaartnummer: het is niet volledig of er klopt een cijfer niet',
    expiry_missing: 'Vul de vervaldatum van je kaart in',
    expiry_wrong: 'Vul de vervaldatum in als maand en jaar, bijvoorbeeld 04 / 29',
    expiry_past: 'Deze kaart is verlopen: gebruik een andere',
    code_missing: 'Vul de beveiligingscode van je kaart in',
    code_wrong: (digits) => `Vul de beveiligingscode in: ${digits} cijfers`,
    name_missing: 'Vul de naam op je kaart in',
    name_wrong: 'Vul de naam in zoals die op je kaart staat, zonder cijfers van het kaartnummer',
    number_unusable: 'Deze kaart kan hier niet worden gebruikt: controleer het nummer of gebruik een andere kaart',
  },

  declined: 'Je kaart is geweigerd',
  declined_detail:
    'Er is niets afgeschreven. Controleer je kaartgegevens, gebruik een andere kaart of vraag het je bank.',
  wallet_declined_detail: 'Er is niets afgeschreven. Kies een andere betaalmethode of vraag het je bank.',
  declined_by_code: {
    '14': 'Er is niets afgeschreven. Het kaartnummer is niet geaccepteerd: controleer het of gebruik een andere kaart.',
    '51': 'Er is niets afgeschreven. Er staat te weinig saldo op deze kaart: gebruik een andere.',
    '54': 'Er is niets afgeschreven. Deze kaart is verlopen: gebruik een andere.',
  },
  not_confirmed: 'Je bank heeft de betaling niet bevestigd',
  failed: 'De betaling is niet gelukt',
  failed_detail: 'Er is niets afgeschreven. Probeer het opnieuw of gebruik een andere kaart.',
  attempts_left: (left) =>
    left === 1 ? 'Je kunt het nog één keer proberen.' : `Je kunt het nog ${left} keer proberen.`,
  not_sent: 'Deze poging is niet verstuurd',
  not_sent_detail: 'De betaalverwerker was niet bereikbaar. Probeer het zo meteen opnieuw.',
  not_cancelled: 'Nog niet geannuleerd',
  not_cancelled_detail: 'We konden de betaling nu niet annuleren. Probeer het zo meteen opnieuw.',

  waiting: 'Je betaling wordt verwerkt',
  waiting_detail:
    'Je bank heeft nog niet geantwoord. Dat kan een paar minuten duren. Deze pagina gaat vanzelf verder en schrijft niet twee keer af: wacht hier en begin niet opnieuw bij de winkel.',
  issuer: 'Je bank wil zeker weten dat jij het bent',
  to_issuer: 'Verder naar je bank',
  issuer_detail: 'Bevestig de betaling bij je bank. Deze pagina gaat vanzelf verder.',
  other_payment: 'Er wordt nu betaald',
  other_payment_detail:
    'Iemand is dit nu aan het betalen. Deze pagina gaat vanzelf verder; mislukt die betaling, dan kun je hier betalen.',
  unknown_charge: 'We hebben nog geen antwoord',
  unknown_charge_detail:
    'Je betaling kan nog doorgaan. Wacht hier en begin niet opnieuw bij de winkel. Deze pagina schrijft niet twee keer af.',
  check_now: 'Nu controleren',

  ended: {
    completed: {
      heading: 'Betaling gelukt',
      detail: (merchant) => `Bedankt. Je betaling aan ${merchant} is goedgekeurd.`,
    },
    cancelled: { heading: 'Betaling geannuleerd', detail: () => 'Er is niets afgeschreven.' },
    expired: {
      heading: 'Deze betaling is verlopen',
      detail: (merchant) => `Er is niets afgeschreven. Wil je nog betalen, begin dan opnieuw bij ${merchant}.`,
    },
    error: {
      heading: 'De betaling is niet gelukt',
      detail: (merchant) => `Er is niets afgeschreven. Wil je nog betalen, begin dan opnieuw bij ${merchant}.`,
    },
    given_back: {
      heading: 'De betaling wordt teruggegeven',
      detail: () => 'Je bank heeft haar pas na het einde goedgekeurd. Het geld gaat terug naar je kaart.',
    },
    not_given_back: {
      heading: 'De betaling kon niet worden teruggegeven',
      detail: (merchant) =>
        `Je bank heeft haar pas na het einde goedgekeurd, en het geld is niet vanzelf teruggegaan. Neem contact op met ${merchant}.`,
    },
    attempt_failed: {
      heading: 'De betaling is niet gelukt',
      detail: () => 'Er is niets afgeschreven. De betaalpagina laat zien of je het opnieuw kunt proberen.',
    },
    already_paid: {
      heading: 'Dit is al betaald',
      detail: () => 'Hier hoeft niets meer betaald te worden.',
    },
    link_expired: {
      heading: 'Deze betaallink is verlopen',
      detail: (merchant) =>
        `Hier kan niet meer betaald worden. Wil je nog betalen, vraag ${merchant} dan om een nieuwe link.`,
    },
    no_attempts_left: {
      heading: 'Deze betaallink kan niet meer gebruikt worden',
      detail: (merchant) =>
        `Hier zijn te veel betalingen mislukt. Wil je nog betalen, vraag ${merchant} dan om een nieuwe link.`,
    },
    ended_by_merchant: {
      heading: 'Deze betaallink is gesloten',
      detail: (merchant) =>
        `${merchant} heeft hem gesloten. Wil je nog betalen, vraag ${merchant} dan om een nieuwe link.`,
    },
    suspended: {
      heading: 'Op dit moment geen betalingen',
      detail: (merchant: string) => `Er is niets afgeschreven. ${merchant} neemt op dit moment geen betalingen aan.`,
    },
  },
  earlier_approval: {
    given_back: () =>
      'Je bank heeft een eerdere betaling pas na het einde goedgekeurd. Dat geld gaat terug naar je kaart.',
    not_given_back: (merchant) =>
      `Je bank heeft een eerdere betaling pas na het einde goedgekeurd, en dat geld is niet vanzelf teruggegaan. Neem contact op met ${merchant}.`,
  },
  may_be_approved: 'Je bank kan de begonnen betaling nog goedkeuren. In dat geval gaat het geld terug naar je kaart.',
  last_declined: 'Je kaart is geweigerd en je kunt het niet nog een keer proberen.',
  back_to: (merchant) => `Terug naar ${merchant}`,
  may_close: 'Je kunt deze pagina nu sluiten.',

  cards_heading: 'Testkaarten',
  cards_detail:
    'Kies er een om het formulier in te vullen. Elke vervaldatum in de toekomst en elke beveiligingscode van drie cijfers werken.',
  cards_card: 'Kaart',
  cards_number: 'Nummer',
  cards_meaning: 'Wat er gebeurt',
  cards_use: 'Kiezen',
  cards_use_named: (title) => `Testkaart kiezen: ${title}`,
  test_name: 'Test Klant',

  problems: {
    400: { heading: 'Dit verzoek is niet leesbaar', detail: 'Ga terug en probeer het opnieuw.' },
    403: {
      heading: 'Dit formulier is niet meer geldig',
      detail:
        'Dit verzoek is niet uitgevoerd. Misschien staan cookies uit of was de pagina te lang open. Open de betaalpagina opnieuw.',
    },
    404: {
      heading: 'Pagina niet gevonden',
      detail: 'Op dit adres is geen betaling. Controleer de link of vraag het bedrijf om een nieuwe.',
    },
    405: { heading: 'Dat kan hier niet', detail: 'Open de betaalpagina opnieuw.' },
    413: { heading: 'Dit formulier is te groot', detail: 'Open de betaalpagina opnieuw.' },
    429: {
      heading: 'Te veel verzoeken',
      detail: 'Dit verzoek is niet uitgevoerd. Open de betaalpagina zo meteen opnieuw.',
    },
    500: {
      heading: 'Er is bij ons iets misgegaan',
      detail: 'Open de betaalpagina zo meteen opnieuw. Er wordt niet twee keer afgeschreven.',
    },
    503: {
      heading: 'We kunnen nu niet antwoorden',
      detail: 'Open de betaalpagina zo meteen opnieuw. Er wordt niet twee keer afgeschreven.',
    },
  },
  open_again: 'Betaalpagina opnieuw openen',
};
