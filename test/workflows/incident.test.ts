import { attentionToIncident } from '../../workflows/incident';

test.each([
  [{}, 'the record and the processor differ: status'],
  [{ is_closed: true }, undefined],
  [{ is_closed: true, has_failed_event: true }, "the operator's webhook failed 10 times"],
])('Attention of an incident: %j', (over, text) => {
  const progress = {
    kind: 'status',
    is_closed: false,
    has_failed_event: false,
    description: '',
    clock_offset_ms: 0,
  } as const;
  expect(attentionToIncident({ ...progress, ...over })).toBe(text);
});
