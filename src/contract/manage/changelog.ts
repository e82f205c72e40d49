/** A version of the interface of the bearer-token host. */
interface ChangelogEntry {
  readonly version: string;
  /** ISO 8601. */
  readonly date: string;
  /** The change, in words for callers. */
  readonly text: string;
  /**
   * The operations that are as this version made them, each with the digest of its shape, and `null` for a removed one.
   * test/guards/changelog.test.ts makes the digests and compares: an operation cannot change without an entry (rules
   * 21.15).
   */
  readonly operations: Readonly<Record<string, string | null>>;
}

/** The answer of `GET /v1/changelog/`, newest first. */
export const CHANGELOG: readonly ChangelogEntry[] = [
  {
    version: '1.5.5',
    date: '2026-11-30',
    text: 'A recovery of webhooks leaves out `remaining` when counting takes long or fails.',
    operations: {
      getWebhookRecovery: '317808e14509',
      listWebhookRecoveries: '39e7862099e3',
      pauseWebhookRecovery: '864b4aa26ca3',
      recoverWebhooks: '8308590cfe07',
      resumeWebhookRecovery: '7314c24a0519',
      stopWebhookRecovery: '3c945aa149a6',
    },
  },
  {
    version: '1.5.4',
    date: '2026-11-30',
    text: 'When a merchant has a hundred projects, another one is a Conflict for its own clients.',
    operations: { createProject: '7c6723e4c1a6' },
  },
  {
    version: '1.5.3',
    date: '2026-11-29',
    text: 'The document lists the 403 that every operation answers to plain http.',
    operations: {
      createApiKey: 'b96d7846c200',
      deliverNow: '897c3c105521',
      eraseCustomer: '180d154debd9',
      getChangelog: 'cc06267b6d8a',
      getDelivery: 'bed41b69f4eb',
      getErasure: 'c748c7e75c99',
      getManagedProject: '4f174cd5ed1a',
      getMerchant: '45575d98842b',
      getWebhookSecret: 'f98ee63c04c8',
      listApiKeys: '8ccbe1f4cd36',
      listAuditTrail: 'e74e904ec112',
      listDeliveries: 'a3344fdc6a95',
      listErasures: 'eab24236a79e',
      listProjects: 'dbc9c03714c1',
      pauseDelivery: 'd2aedd868744',
      redeliver: '33c0654bb764',
      resumeDelivery: 'f9e3b6dffe69',
      revokeApiKey: '8feaf52afe2a',
      rollApiKey: 'ed18e01b4080',
      rollWebhookSecret: '43915e05d703',
      updateMerchant: 'ad7cd42e1f9a',
    },
  },
  {
    version: '1.5.2',
    date: '2026-11-29',
    text: 'While a hundred erasures of a project run, another one is a Conflict.',
    operations: {},
  },
  {
    version: '1.5.1',
    date: '2026-11-28',
    text: 'A duration has at most 255 characters.',
    operations: { rollClient: '1ff385901fec', updateProject: 'd77601fdcee5' },
  },
  {
    version: '1.5.0',
    date: '2026-11-24',
    text: 'The personal data of a customer is erased in all orders of a project; erasures can be listed and read.',
    operations: {},
  },
  {
    version: '1.4.0',
    date: '2026-11-24',
    text: 'The failed webhooks of a project in a time are sent again by a recovery, which can be listed, paused, resumed and stopped.',
    operations: {},
  },
  {
    version: '1.3.0',
    date: '2026-11-24',
    text: 'Operators list what needs them, with since and until, and list, read and close incidents: differences in money between the record and the processor.',
    operations: {
      closeIncident: '6ddc31dd7a27',
      getIncident: '90d354d09111',
      listAttentions: '333a59ad94b0',
      listIncidents: 'dd5afa89bb57',
    },
  },
  {
    version: '1.2.1',
    date: '2026-11-24',
    text: 'The document states the characters of an Idempotency-Key (visible ASCII), which have not changed.',
    operations: { createClient: '83e1a3444eb3', createMerchant: '5f623d7d3095', revokeClient: 'c1ff5bcbd17a' },
  },
  {
    version: '1.2.0',
    date: '2026-11-23',
    text: 'A project says who has suspended it (suspended_by), and an operator who suspends what the merchant has suspended takes the suspension over. A merchant reads operator as the id of operators in the audit trail. The right secret of a client always gets a token, also while wrong ones are refused with 429. At most 20 API keys of a project work at the same time. An event has one redelivery that has not ended.',
    operations: {},
  },
  {
    version: '1.1.0',
    date: '2026-11-22',
    text: 'A webhook delivery that waits for its next attempt can be paused, resumed and delivered now. Its status may be paused. The actor of an entry of the audit trail may be of the kind temporal: an operator who set an outcome by hand. Names have no line breaks, control, format and private-use characters.',
    operations: {},
  },
  {
    version: '1.0.0',
    date: '2026-11-22',
    text: 'The first version: merchants, projects, API keys, webhook secrets, clients, webhook deliveries, the audit trail and this changelog.',
    operations: { listClients: '4a70cbedfb53', listMerchants: '8b9abcdc59c2' },
  },
];
