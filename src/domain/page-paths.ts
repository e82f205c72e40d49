/** Under which paths of PUBLIC_URL the hosted pages are. */
export const PAGES = { order: '/pay', payment_link: '/paymentlinks' } as const;

/** Path of the page on which a customer pays the order, or one transaction of it. */
export const orderPagePath = (order_id: string, transaction_id?: string): string =>
  `${PAGES.order}/${order_id}/${transaction_id === undefined ? '' : `${transaction_id}/`}`;

/** Path of a payment link's page. */
export const linkPagePath = (payment_link_id: string): string => `${PAGES.payment_link}/${payment_link_id}/`;
