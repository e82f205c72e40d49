import type { Texts } from './en';

/** German. */
export const DE: Texts = {
  pay_title: (merchant, amount) => `${amount} an ${merchant} bezahlen`,
  error_title: (title) => `Fehler: ${title}`,
  declined_title: (title) => `Abgelehnt – ${title}`,
  to_pay: 'Zu zahlen',
  secure: 'Sichere Bezahlseite',
  test_banner: 'Testmodus',
  test_banner_detail: 'Hier fließt kein Geld. Echte Karten funktionieren nicht.',
  sandbox_time: 'Sandbox-Zeit',
  reference: 'Referenz',
  method: 'Bezahlt mit',
  merchant: 'Händler',
  amount: 'Betrag',
  card_ending: (brand, digits) => `${brand} mit den Endziffern ${digits}`,
  pay_before: 'Bitte bezahlen Sie vor dem',
  time_left: 'Verbleibende Zeit:',

  ways_to_pay: 'Zahlungsarten',
  wallet_heading: 'Mit Wallet bezahlen',
  pay_with: (wallet) => `Mit ${wallet} bezahlen`,
  simulated: 'Simuliert',
  simulated_detail:
    'Es öffnet sich kein Wallet und keine Ihrer Karten wird verwendet: Die Schaltfläche bezahlt mit einer erfundenen Karte.',
  wallet_card: (wallet, card) => `${wallet}, ${card}`,

  card_heading: 'Mit Karte bezahlen',
  number: 'Kartennummer',
  expiry: 'Gültig bis',
  expiry_hint: 'Monat und Jahr, MM\u00a0/\u00a0JJ',
  code: 'Prüfnummer (CVC)',
  code_hint: '3 Ziffern auf der Rückseite oder 4 auf der Vorderseite',
  name: 'Name auf der Karte',
  pay: (amount) => `${amount} bezahlen`,
  paying: 'Wird bezahlt …',
  card_privacy: (merchant) =>
    `Ihre Kartennummer geht direkt an den Zahlungsdienstleister. ${merchant} bekommt sie nicht zu sehen.`,
  cancel: 'Abbrechen und nicht bezahlen',
  no_method: 'Hier ist keine Zahlung möglich',
  no_method_detail: (merchant) =>
    `Diese Zahlung kann auf dieser Seite nicht ausgeführt werden. Bitte fragen Sie ${merchant} nach einer anderen Zahlungsart.`,

  check_fields: 'Bitte prüfen Sie Ihre Kartendaten',
  errors: {
    number_missing: 'Geben Sie Ihre Kartennummer ein',
    number_wrong: 'Prüfen Sie die Kartennummer: Sie ist unvollständig oder eine Ziffer ist falsch',
    expiry_missing: 'Geben Sie ein, bis wann Ihre Karte gültig ist',
    expiry_wrong: 'Geben Sie das Ablaufdatum als Monat und Jahr ein, zum Beispiel 04 / 29',
    expiry_past: 'Diese Karte ist abgelaufen: Verwenden Sie eine andere',
    code_missing: 'Geben Sie die Prüfnummer Ihrer Karte ein',
    code_wrong: (digits) => `Geben Sie die Prüfnummer ein: ${digits} Ziffern`,
    name_missing: 'Geben Sie den Namen auf Ihrer Karte ein',
    name_wrong: 'Geben Sie den Namen so ein, wie er auf Ihrer Karte steht, ohne Ziffern der Kartennummer',
    number_unusable:
      'Diese Karte kann hier nicht verwendet werden: Prüfen Sie die Nummer oder verwenden Sie eine andere Karte',
  },

  declined: 'Ihre Karte wurde abgelehnt',
  declined_detail:
    'Es wurde nichts abgebucht. Prüfen Sie Ihre Kartendaten, verwenden Sie eine andere Karte oder fragen Sie Ihre Bank.',
  wallet_declined_detail: 'Es wurde nichts abgebucht. Wählen Sie eine andere Zahlungsart oder fragen Sie Ihre Bank.',
  declined_by_code: {
    '14': 'Es wurde nichts abgebucht. Die Kartennummer wurde nicht angenommen: Prüfen Sie sie oder verwenden Sie eine andere Karte.',
    '51': 'Es wurde nichts abgebucht. Die Karte ist nicht ausreichend gedeckt: Bitte verwenden Sie eine andere.',
    '54': 'Es wurde nichts abgebucht. Diese Karte ist abgelaufen: Bitte verwenden Sie eine andere.',
  },
  not_confirmed: 'Ihre Bank hat die Zahlung nicht bestätigt',
  failed: 'Die Zahlung ist fehlgeschlagen',
  failed_detail: 'Es wurde nichts abgebucht. Bitte versuchen Sie es noch einmal oder verwenden Sie eine andere Karte.',
  attempts_left: (left) =>
    left === 1 ? 'Sie können es noch einmal versuchen.' : `Sie können es noch ${left}-mal versuchen.`,
  not_sent: 'Dieser Versuch wurde nicht gesendet',
  not_sent_detail: 'Der Zahlungsdienstleister war nicht erreichbar. Bitte versuchen Sie es gleich noch einmal.',
  not_cancelled: 'Noch nicht abgebrochen',
  not_cancelled_detail: 'Wir konnten die Zahlung gerade nicht abbrechen. Bitte versuchen Sie es gleich noch einmal.',

  waiting: 'Ihre Zahlung wird bearbeitet',
  waiting_detail:
    'Ihre Bank hat noch nicht geantwortet. Das kann einige Minuten dauern. Diese Seite geht von selbst weiter und bucht nicht doppelt ab: Bitte warten Sie hier und beginnen Sie nicht im Shop von vorn.',
  issuer: 'Ihre Bank möchte sichergehen, dass Sie es sind',
  to_issuer: 'Weiter zu Ihrer Bank',
  issuer_detail: 'Bitte bestätigen Sie die Zahlung bei Ihrer Bank. Diese Seite geht von selbst weiter.',
  other_payment: 'Es wird gerade bezahlt',
  other_payment_detail:
    'Jemand bezahlt dies gerade. Diese Seite geht von selbst weiter; schlägt die Zahlung fehl, können Sie hier bezahlen.',
  unknown_charge: 'Wir haben noch keine Antwort',
  unknown_charge_detail:
    'Ihre Zahlung kann noch ausgeführt werden. Bitte warten Sie hier und beginnen Sie nicht im Shop von vorn. Diese Seite bucht nicht doppelt ab.',
  check_now: 'Jetzt nachsehen',

  ended: {
    completed: {
      heading: 'Zahlung erfolgreich',
      detail: (merchant) => `Vielen Dank. Ihre Zahlung an ${merchant} wurde genehmigt.`,
    },
    cancelled: { heading: 'Zahlung abgebrochen', detail: () => 'Es wurde nichts abgebucht.' },
    expired: {
      heading: 'Die Zeit für diese Zahlung ist abgelaufen',
      detail: (merchant) =>
        `Es wurde nichts abgebucht. Wenn Sie noch bezahlen möchten, beginnen Sie bei ${merchant} noch einmal.`,
    },
    error: {
      heading: 'Die Zahlung ist fehlgeschlagen',
      detail: (merchant) =>
        `Es wurde nichts abgebucht. Wenn Sie noch bezahlen möchten, beginnen Sie bei ${merchant} noch einmal.`,
    },
    given_back: {
      heading: 'Die Zahlung wird zurückgegeben',
      detail: () => 'Ihre Bank hat sie erst nach ihrem Ende genehmigt. Das Geld geht auf Ihre Karte zurück.',
    },
    not_given_back: {
      heading: 'Die Zahlung konnte nicht zurückgegeben werden',
      detail: (merchant) =>
        `Ihre Bank hat sie erst nach ihrem Ende genehmigt, und das Geld ging nicht von selbst zurück. Bitte wenden Sie sich an ${merchant}.`,
    },
    attempt_failed: {
      heading: 'Die Zahlung ist fehlgeschlagen',
      detail: () => 'Es wurde nichts abgebucht. Die Bezahlseite zeigt, ob Sie es noch einmal versuchen können.',
    },
    already_paid: {
      heading: 'Dies ist bereits bezahlt',
      detail: () => 'Hier ist nichts mehr zu zahlen.',
    },
    link_expired: {
      heading: 'Dieser Zahlungslink ist abgelaufen',
      detail: (merchant) =>
        `Hier kann nicht mehr bezahlt werden. Wenn Sie noch bezahlen möchten, bitten Sie ${merchant} um einen neuen Link.`,
    },
    no_attempts_left: {
      heading: 'Dieser Zahlungslink kann nicht mehr verwendet werden',
      detail: (merchant) =>
        `Hier sind zu viele Zahlungen fehlgeschlagen. Wenn Sie noch bezahlen möchten, bitten Sie ${merchant} um einen neuen Link.`,
    },
    ended_by_merchant: {
      heading: 'Dieser Zahlungslink ist geschlossen',
      detail: (merchant) =>
        `${merchant} hat ihn geschlossen. Wenn Sie noch bezahlen möchten, bitten Sie ${merchant} um einen neuen Link.`,
    },
    suspended: {
      heading: 'Zurzeit keine Zahlungen',
      detail: (merchant: string) => `Es wurde nichts abgebucht. ${merchant} nimmt zurzeit keine Zahlungen an.`,
    },
  },
  earlier_approval: {
    given_back: () =>
      'Ihre Bank hat eine frühere Zahlung erst nach ihrem Ende genehmigt. Dieses Geld geht auf Ihre Karte zurück.',
    not_given_back: (merchant) =>
      `Ihre Bank hat eine frühere Zahlung erst nach ihrem Ende genehmigt, und dieses Geld ging nicht von selbst zurück. Bitte wenden Sie sich an ${merchant}.`,
  },
  may_be_approved:
    'Ihre Bank kann die begonnene Zahlung noch genehmigen. In diesem Fall geht das Geld auf Ihre Karte zurück.',
  last_declined: 'Ihre Karte wurde abgelehnt, weitere Versuche sind nicht möglich.',
  back_to: (merchant) => `Zurück zu ${merchant}`,
  may_close: 'Sie können diese Seite jetzt schließen.',

  cards_heading: 'Testkarten',
  cards_detail:
    'Wählen Sie eine, um das Formular auszufüllen. Jedes künftige Ablaufdatum und jede dreistellige Prüfnummer gelten.',
  cards_card: 'Karte',
  cards_number: 'Nummer',
  cards_meaning: 'Was geschieht',
  cards_use: 'Wählen',
  cards_use_named: (title) => `Testkarte wählen: ${title}`,
  test_name: 'Test Kunde',

  problems: {
    400: {
      heading: 'Diese Anfrage ist nicht lesbar',
      detail: 'Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    403: {
      heading: 'Dieses Formular ist nicht mehr gültig',
      detail:
        'Diese Anfrage wurde nicht ausgeführt. Vielleicht sind Cookies ausgeschaltet oder die Seite war zu lange geöffnet. Bitte öffnen Sie die Bezahlseite noch einmal.',
    },
    404: {
      heading: 'Seite nicht gefunden',
      detail:
        'Unter dieser Adresse gibt es keine Zahlung. Bitte prüfen Sie den Link oder bitten Sie den Händler um einen neuen.',
    },
    405: { heading: 'Das geht hier nicht', detail: 'Bitte öffnen Sie die Bezahlseite noch einmal.' },
    413: { heading: 'Dieses Formular ist zu groß', detail: 'Bitte öffnen Sie die Bezahlseite noch einmal.' },
    429: {
      heading: 'Zu viele Anfragen',
      detail: 'Diese Anfrage wurde nicht ausgeführt. Bitte öffnen Sie die Bezahlseite gleich noch einmal.',
    },
    500: {
      heading: 'Bei uns ist etwas schiefgegangen',
      detail: 'Bitte öffnen Sie die Bezahlseite gleich noch einmal. Es wird nicht doppelt abgebucht.',
    },
    503: {
      heading: 'Wir können gerade nicht antworten',
      detail: 'Bitte öffnen Sie die Bezahlseite gleich noch einmal. Es wird nicht doppelt abgebucht.',
    },
  },
  open_again: 'Bezahlseite noch einmal öffnen',
};
