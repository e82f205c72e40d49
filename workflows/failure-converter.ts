import { DefaultFailureConverter } from '@temporalio/common';

type ErrorToFailure = DefaultFailureConverter['errorToFailureInner'];

/**
 * Puts the message and stack of a failure into a payload, which the codec encrypts; Temporal stores the text `Encoded
 * failure` and the error's type (rules 24.3). The Web UI shows them through the codec server.
 */
class EncryptedFailures extends DefaultFailureConverter {
  constructor() {
    super({ encodeCommonAttributes: true });
  }

  /**
   * Returns a copy. The SDK overwrites the message of the failure that the error carries; an error thrown to two
   * callers would lose it.
   */
  override errorToFailureInner(...args: Parameters<ErrorToFailure>): ReturnType<ErrorToFailure> {
    return { ...super.errorToFailureInner(...args) };
  }
}

/** The SDK looks for this name, in workers and in the workflow bundle. */
export const failureConverter = new EncryptedFailures();
