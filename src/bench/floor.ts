import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

export const FLOOR_WORKFLOW = 'floor';
export const floorWorkflowId = (id: string) => `floor:${id}`;

/** Asks nothing and is answered at once. */
export const touch = defineUpdate<void, []>('touch');

/** The minimal Update-with-Start: no activity and no timer; it ends with its update. */
export async function floor(): Promise<void> {
  let touched = false;
  setHandler(touch, () => {
    touched = true;
  });
  await condition(() => touched);
}
