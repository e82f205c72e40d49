/** Attributes of spans by the beginning of the workflow id, which ends with the id of its object. */
const OBJECTS = [
  [/^(?:order|webhook):([0-9a-f-]{36})/, 'payments.order_id'],
  [/^link:([0-9a-f-]{36})/, 'payments.payment_link_id'],
] as const;

/** The workflow and its object, as attributes of a span. */
export function objectAttributes(workflow_id: string): Record<string, string> {
  const of_object = OBJECTS.flatMap(([pattern, attribute]) => {
    const id = pattern.exec(workflow_id)?.[1];
    return id === undefined ? [] : [[attribute, id]];
  });
  return { 'temporal.workflow_id': workflow_id, ...Object.fromEntries(of_object) };
}
