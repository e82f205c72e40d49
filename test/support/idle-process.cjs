/** A program of a stack that does nothing, in place of one that a test starts by itself. */
process.send({ ready: true });
process.once('disconnect', () => process.exit());
