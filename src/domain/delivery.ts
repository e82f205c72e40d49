/** Names one webhook: the order and the number of its status change. */
export interface DeliveryId {
  order_id: string;
  n: number;
}
