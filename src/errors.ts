/** All errors of the service: HTTP status, meaning, and remedy for the merchant (rules 3.4). */
export const ERRORS = {
  ValidationError: {
    status: 400,
    meaning: 'Request does not match the schema, for example a missing or invalid field.',
    remedy: 'Correct the field named in property_path and send the request again.',
  },
  IdempotencyKeyReused: {
    status: 422,
    meaning: 'The Idempotency-Key came with another request before.',
    remedy:
      'The first request with the key may have been carried out: retrieve or list the orders before you take a new key. Repeat a request with its key exactly as it was.',
  },
  MissingInformationToCreateTransaction: {
    status: 422,
    meaning: 'Information needed to create the transaction is missing.',
    remedy: 'Add the field named in property_path.',
  },
  TransactionAlreadyStarted: {
    status: 409,
    meaning: 'Transaction has already started and cannot be started again.',
    remedy: 'Retrieve the order and act on its status.',
  },
  CanNotCancelTransaction: {
    status: 409,
    meaning: 'Transaction cannot be cancelled in its current state.',
    remedy: 'Retrieve the order; a captured payment is refunded instead.',
  },
  RefundError: {
    status: 400,
    meaning: 'Refund not possible, for example exceeds the remaining amount.',
    remedy:
      'Retrieve the order: one of its refund_orders may be this refund. Otherwise refund at most what is left, with a new Idempotency-Key.',
  },
  FailedToFetchTransactionInformation: {
    status: 502,
    meaning: 'Transaction information could not be retrieved.',
    remedy: 'Send the request again after a moment; nothing was stored or charged.',
  },
  GatewayTimeout: {
    status: 504,
    type: 'ServerError',
    meaning: 'The processor did not answer in time; nothing was stored or charged.',
    remedy:
      'Send the request again after a moment. Without X-Request-Id the answer is of a proxy, and the request may have been carried out.',
  },
  ServerError: {
    status: 500,
    meaning: 'Unexpected error inside the service.',
    remedy:
      'With an Idempotency-Key send the request again, as nothing happens twice; without one wait two minutes, then retrieve or list the orders.',
  },
  ServiceUnavailable: {
    status: 503,
    type: 'ServerError',
    meaning:
      'The service could not answer in time. With Retry-After the request may be sent again, and nothing is done twice.',
    remedy:
      'Send the request again after the seconds in Retry-After; without that header wait two minutes, then retrieve or list the orders. If value says that the service is being restored, do so when that has ended.',
  },
  Unauthorized: {
    status: 401,
    meaning: 'Authentication failed or missing, or the object belongs to another project.',
    remedy: 'Use the API key of the project that owns the object.',
  },
  Forbidden: {
    status: 403,
    meaning: 'No permission.',
    remedy:
      'Read value: use https, or a key of a test project, or ask the operator to enable the feature or activate the project.',
  },
  NotFound: {
    status: 404,
    meaning: 'Resource does not exist.',
    remedy: 'Check the id and the path.',
  },
  MethodNotAllowed: {
    status: 405,
    meaning: 'The path exists, the method does not.',
    remedy: 'Use a method of the Allow header.',
  },
  Conflict: {
    status: 409,
    meaning: 'Conflicts with the current state of the resource.',
    remedy: 'Retrieve the order and act on its status.',
  },
  PreconditionFailed: {
    status: 412,
    meaning: 'The order or payment link has changed since the version named in If-Match.',
    remedy:
      'Retrieve it, and send the request again with its ETag and a new Idempotency-Key if the change is still wanted.',
  },
  TooManyRequests: {
    status: 429,
    meaning: 'More requests than the rate limit of the project allows, or too much work at a time.',
    remedy:
      'Send the request again after the seconds in Retry-After; the headers RateLimit and RateLimit-Policy say what is left.',
  },
  RequestTimeout: {
    status: 408,
    meaning: 'The request did not arrive within 30 seconds.',
    remedy: 'Send the request again.',
  },
  RequestHeaderFieldsTooLarge: {
    status: 431,
    meaning: 'The path and the headers are larger than 16 KiB.',
    remedy: 'Send less.',
  },
  PayloadTooLarge: { status: 413, meaning: 'The body is larger than 256 KiB.', remedy: 'Send less.' },
  UnsupportedMediaType: {
    status: 415,
    meaning: 'The body is not JSON.',
    remedy: 'Send Content-Type: application/json.',
  },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The type on the wire, where it differs from the row's name: two rows may share a type at different statuses. */
  readonly type?: string;
  readonly meaning: string;
  /** The remedy for the merchant. */
  readonly remedy: string;
}

/** A row of the table; errorTypeOf gives its type on the wire. */
export type ErrorName = keyof typeof ERRORS;

/** A wrong field of a request. */
export interface WrongField {
  /** Dotted path, for example `transactions.0.payment_method`. */
  readonly path: string;
  /** The error in words for the merchant; never repeats the value. */
  readonly text: string;
}

/** The only error whose meaning reaches a client. Any other becomes a ServerError whose details stay in the log. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly error: ErrorName,
    /** Short explanation for the merchant; never holds a card number or a key. */
    readonly value: string,
    /** The wrong fields of the request, the most important first; empty when the error is not about fields. */
    readonly fields: readonly WrongField[] = [],
  ) {
    super(value);
  }
}

/** Throws an error with these fields of the request, if there are any. Its text is that of the first field. */
export function refuseFields(error: ErrorName, fields: readonly WrongField[]): void {
  const [first] = fields;
  if (first !== undefined) throw new ServiceError(error, `${first.path}: ${first.text}`, fields);
}

/** A ValidationError about one field. */
export function validationError(path: string, text: string): ServiceError {
  return new ServiceError('ValidationError', `${path}: ${text}`, [{ path, text }]);
}

/** ServiceUnavailable: the client already got a 503 that promises that nothing was stored (rules 10.5). */
export function tooLate(): ServiceError {
  return new ServiceError(
    'ServiceUnavailable',
    'The request came too late to be carried out; nothing was stored or charged.',
  );
}

/**
 * ServiceUnavailable without the promise that nothing was stored: the request may have been carried out, or may still
 * be (rules 10.8).
 */
export class OutcomeUnknown extends ServiceError {
  constructor(
    value = 'The service could not answer in time, and the request may still be carried out: ' +
      'wait two minutes, then retrieve or list the orders before you send it again.',
  ) {
    super('ServiceUnavailable', value);
  }
}

/** PreconditionFailed: the object is at none of the versions that If-Match allows (rules 11.9). */
export function preconditionFailed(): ServiceError {
  return new ServiceError('PreconditionFailed', ERRORS.PreconditionFailed.meaning);
}

/** The type of an error on the wire. */
export function errorTypeOf(name: ErrorName): string {
  const row: ErrorRow = ERRORS[name];
  return row.type ?? name;
}

/** Whether a value from outside, such as Temporal returns, names a row of the table. */
export function isErrorName(name: unknown): name is ErrorName {
  return typeof name === 'string' && Object.hasOwn(ERRORS, name);
}

/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
