/**
 * A required record does not exist: its commit is not visible yet, as during a failover, or it is lost (rules 10.19).
 */
export class RecordMissing extends Error {}
