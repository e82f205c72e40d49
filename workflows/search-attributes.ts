import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';

/**
 * Search attributes, by which operators filter workflows in the Web UI; nothing personal. They are registered when the
 * Temporal server is set up.
 */
export const ORDER_STATUS = defineSearchAttributeKey('OrderStatus', SearchAttributeType.KEYWORD);
export const PROJECT_ID = defineSearchAttributeKey('ProjectId', SearchAttributeType.KEYWORD);
export const PAYMENT_LINK_STATUS = defineSearchAttributeKey('PaymentLinkStatus', SearchAttributeType.KEYWORD);
/** On a follow-up order: the payment order. */
export const RELATED_ORDER_ID = defineSearchAttributeKey('RelatedOrderId', SearchAttributeType.KEYWORD);
/** Why an operator has to act. */
export const ATTENTION = defineSearchAttributeKey('Attention', SearchAttributeType.KEYWORD);
