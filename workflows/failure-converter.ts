import { DefaultFailureConverter } from '@temporalio/common';

type ErrorToFailure = DefaultFailureConverter['errorToFailureInner'];

/**
 * Puts message and stack of a failure into a payload, which the codec encrypts; Temporal keeps the text `Encoded
 * failure` and the error's type (rules 24.3). The Web UI shows them through the codec server.
 */
class EncryptedFailures extends DefaultFailureConverter {
  constructor() {
    super({ encodeCommonAttributes: true });
  }

  /**
   * The SDK would overwrite the message of the failure that the error carries, and lose it when one error is thrown to
   * two callers.
   */
  override errorToFailureInner(...args: Parameters<ErrorToFailure>): ReturnType<ErrorToFailure> {
    return { ...super.errorToFailureInner(...args) };
  }
}

/** Under the name that the SDK looks for, in workers and in the workflow bundle. */
export const failureConverter = new EncryptedFailures();
