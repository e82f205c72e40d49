import type { Texts } from './en';

/** Spanish. */
export const ES: Texts = {
  pay_title: (merchant, amount) => `Pagar ${amount} a ${merchant}`,
  error_title: (title) => `Error: ${title}`,
  declined_title: (title) => `Pago rechazado – ${title}`,
  to_pay: 'Importe a pagar',
  secure: 'Página de pago segura',
  test_banner: 'Modo de prueba',
  test_banner_detail: 'Aquí no se mueve dinero. Las tarjetas reales no funcionan.',
  sandbox_time: 'Hora de prueba',
  reference: 'Referencia',
  method: 'Pagado con',
  merchant: 'Comercio',
  amount: 'Importe',
  card_ending: (brand, digits) => `${brand} terminada en ${digits}`,
  pay_before: 'Paga antes del',
  time_left: 'Tiempo restante:',

  ways_to_pay: 'Métodos de pago',
  wallet_heading: 'Pagar con una cartera digital',
  pay_with: (wallet) => `Pagar con ${wallet}`,
  simulated: 'Simulado',
  simulated_detail:
    'No se abre ninguna cartera ni se usa ninguna de tus tarjetas: el botón paga con una tarjeta ficticia.',
  wallet_card: (wallet, card) => `${wallet}, ${card}`,

  card_heading: 'Pagar con tarjeta',
  number: 'Número de tarjeta',
  expiry: 'Caducidad',
  expiry_hint: 'Mes y año, MM\u00a0/\u00a0AA',
  code: 'Código CVV',
  code_hint: '3 dígitos en el reverso, o 4 en el anverso',
  name: 'Nombre en la tarjeta',
  pay: (amount) => `Pagar ${amount}`,
  paying: 'Pagando…',
  card_privacy: (merchant) =>
    `El número de tu tarjeta va directamente al procesador de pagos. ${merchant} nunca lo ve.`,
  cancel: 'Cancelar y no pagar',
  no_method: 'Aquí no se puede pagar',
  no_method_detail: (merchant) => `Este pago no se puede hacer en esta página. Pide a ${merchant} otro método de pago.`,

  check_fields: 'Revisa los datos de tu tarjeta',
  errors: {
    number_missing: 'Introduce el número de tu tarjeta',
    number_wrong: 'Revisa el número de tarjeta: está incompleto o hay un dígito incorrecto',
    expiry_missing: 'Introduce la fecha de caducidad de tu tarjeta',
    expiry_wrong: 'Introduce el mes y el año de caducidad, por ejemplo 04 / 29',
    expiry_past: 'Esta tarjeta ha caducado: usa otra',
    code_missing: 'Introduce el código CVV de tu tarjeta',
    code_wrong: (digits) => `Introduce el código CVV: ${digits} dígitos`,
    name_missing: 'Introduce el nombre que figura en tu tarjeta',
    name_wrong: 'Introduce el nombre como figura en tu tarjeta, sin dígitos del número',
    number_unusable: 'Esta tarjeta no se puede usar aquí: revisa el número o usa otra tarjeta',
  },

  declined: 'Tu tarjeta ha sido rechazada',
  declined_detail: 'No se ha cobrado nada. Revisa los datos de tu tarjeta, usa otra tarjeta o consulta con tu banco.',
  wallet_declined_detail: 'No se ha cobrado nada. Elige otro método de pago o consulta con tu banco.',
  declined_by_code: {
    '14': 'No se ha cobrado nada. El número de tarjeta no ha sido aceptado: revísalo o usa otra tarjeta.',
    '51': 'No se ha cobrado nada. Esta tarjeta no tiene saldo suficiente: usa otra.',
    '54': 'No se ha cobrado nada. Esta tarjeta ha caducado: usa otra.',
  },
  not_confirmed: 'Tu banco no ha confirmado el pago',
  failed: 'No se ha podido realizar el pago',
  failed_detail: 'No se ha cobrado nada. Inténtalo de nuevo o usa otra tarjeta.',
  attempts_left: (left) => (left === 1 ? 'Puedes intentarlo una vez más.' : `Puedes intentarlo ${left} veces más.`),
  not_sent: 'Este intento no se ha enviado',
  not_sent_detail: 'No se ha podido contactar con el procesador de pagos. Inténtalo de nuevo en un momento.',
  not_cancelled: 'Aún no se ha cancelado',
  not_cancelled_detail: 'No hemos podido cancelar el pago ahora mismo. Inténtalo de nuevo en un momento.',

  waiting: 'Tu pago se está procesando',
  waiting_detail:
    'Tu banco aún no ha respondido. Puede tardar unos minutos. Esta página continúa sola y no te cobra dos veces: espera aquí y no empieces de nuevo en la tienda.',
  issuer: 'Tu banco quiere asegurarse de que eres tú',
  to_issuer: 'Continuar a tu banco',
  issuer_detail: 'Confirma el pago con tu banco. Esta página continúa sola.',
  other_payment: 'Hay un pago en curso',
  other_payment_detail:
    'Alguien está pagando en este momento. Esta página continúa sola; si ese pago falla, podrás pagar aquí.',
  unknown_charge: 'Aún no tenemos respuesta',
  unknown_charge_detail:
    'Tu pago aún puede completarse. Espera aquí y no empieces de nuevo en la tienda. Esta página no te cobra dos veces.',
  check_now: 'Comprobar ahora',

  ended: {
    completed: { heading: 'Pago realizado', detail: (merchant) => `Gracias. Tu pago a ${merchant} se ha aprobado.` },
    cancelled: { heading: 'Pago cancelado', detail: () => 'No se ha cobrado nada.' },
    expired: {
      heading: 'Este pago ha caducado',
      detail: (merchant) => `No se ha cobrado nada. Si aún quieres pagar, empieza de nuevo en ${merchant}.`,
    },
    error: {
      heading: 'No se ha podido realizar el pago',
      detail: (merchant) => `No se ha cobrado nada. Si aún quieres pagar, empieza de nuevo en ${merchant}.`,
    },
    given_back: {
      heading: 'Se devuelve el pago',
      detail: () => 'Tu banco lo ha aprobado cuando ya había terminado. El dinero vuelve a tu tarjeta.',
    },
    not_given_back: {
      heading: 'No se ha podido devolver el pago',
      detail: (merchant) =>
        `Tu banco lo ha aprobado cuando ya había terminado, y el dinero no ha vuelto por sí solo. Ponte en contacto con ${merchant}.`,
    },
    attempt_failed: {
      heading: 'No se ha podido realizar el pago',
      detail: () => 'No se ha cobrado nada. La página de pago muestra si puedes intentarlo de nuevo.',
    },
    already_paid: {
      heading: 'Esto ya está pagado',
      detail: () => 'Aquí no queda nada por pagar.',
    },
    link_expired: {
      heading: 'Este enlace de pago ha caducado',
      detail: (merchant) => `Aquí ya no se puede pagar. Si aún quieres pagar, pide un enlace nuevo a ${merchant}.`,
    },
    no_attempts_left: {
      heading: 'Este enlace de pago ya no se puede usar',
      detail: (merchant) =>
        `Aquí han fallado demasiados pagos. Si aún quieres pagar, pide un enlace nuevo a ${merchant}.`,
    },
    ended_by_merchant: {
      heading: 'Este enlace de pago está cerrado',
      detail: (merchant) => `${merchant} lo ha cerrado. Si aún quieres pagar, pide un enlace nuevo a ${merchant}.`,
    },
    suspended: {
      heading: 'Ahora no se puede pagar',
      detail: (merchant: string) => `No se ha cobrado nada. ${merchant} no acepta pagos en este momento.`,
    },
  },
  earlier_approval: {
    given_back: () =>
      'Tu banco ha aprobado un pago anterior cuando ya había terminado. Ese dinero vuelve a tu tarjeta.',
    not_given_back: (merchant) =>
      `Tu banco ha aprobado un pago anterior cuando ya había terminado, y ese dinero no ha vuelto por sí solo. Ponte en contacto con ${merchant}.`,
  },
  may_be_approved: 'Tu banco aún puede aprobar el pago que empezaste. En ese caso, el dinero vuelve a tu tarjeta.',
  last_declined: 'Tu tarjeta ha sido rechazada y no quedan más intentos.',
  back_to: (merchant) => `Volver a ${merchant}`,
  may_close: 'Ya puedes cerrar esta página.',

  cards_heading: 'Tarjetas de prueba',
  cards_detail:
    'Elige una para rellenar el formulario. Sirven cualquier fecha de caducidad futura y cualquier código CVV de tres cifras.',
  cards_card: 'Tarjeta',
  cards_number: 'Número',
  cards_meaning: 'Qué ocurre',
  cards_use: 'Elegir',
  cards_use_named: (title) => `Elegir la tarjeta de prueba: ${title}`,
  test_name: 'Cliente de Prueba',

  problems: {
    400: { heading: 'Esta solicitud no se puede leer', detail: 'Vuelve atrás e inténtalo de nuevo.' },
    403: {
      heading: 'Este formulario ya no es válido',
      detail:
        'Esta solicitud no se ha procesado. Puede que las cookies estén desactivadas o que la página haya estado abierta demasiado tiempo. Abre de nuevo la página de pago.',
    },
    404: {
      heading: 'Página no encontrada',
      detail: 'No hay ningún pago en esta dirección. Revisa el enlace o pide uno nuevo al comercio.',
    },
    405: { heading: 'Esto no es posible aquí', detail: 'Abre de nuevo la página de pago.' },
    413: { heading: 'Este formulario es demasiado grande', detail: 'Abre de nuevo la página de pago.' },
    429: {
      heading: 'Demasiadas solicitudes',
      detail: 'Esta solicitud no se ha procesado. Abre de nuevo la página de pago en un momento.',
    },
    500: {
      heading: 'Algo ha fallado por nuestra parte',
      detail: 'Abre de nuevo la página de pago en un momento. No se te cobrará dos veces.',
    },
    503: {
      heading: 'No podemos responder ahora mismo',
      detail: 'Abre de nuevo la página de pago en un momento. No se te cobrará dos veces.',
    },
  },
  open_again: 'Abrir de nuevo la página de pago',
};
