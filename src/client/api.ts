// @ts-nocheck: the types of its runtime do not know exactOptionalPropertyTypes.
/**
 * Payments API
 * 1
 * DO NOT MODIFY - This file has been generated using oazapfts.
 * See https://www.npmjs.com/package/oazapfts
 */
import * as Oazapfts from "@oazapfts/runtime";
import * as QS from "@oazapfts/runtime/query";
export const defaults: Oazapfts.Defaults<Oazapfts.CustomHeaders> = {
    headers: {},
    baseUrl: "/"
};
const oazapfts = Oazapfts.runtime(defaults);
export const servers = {
    server1: "/"
};
export type TransactionRequest = {
    /** One that is active in the project. */
    payment_method: "credit-card" | "apple-pay" | "google-pay";
    /** `manual`: captured or voided by the merchant. `delayed`: captured at the end of expiration_period. Absent: a sale, captured at once. */
    capture_mode?: "manual" | "delayed";
    /** How long it can be paid; with capture_mode, how long it can be captured once accepted, at most P5D. */
    expiration_period?: string;
    payment_method_details?: {
        /** Card token; the transaction is then charged at once. */
        vault_token?: string;
        /** Account funding: the account to load. The only field that may hold a card number. */
        receiver_account_number?: string;
        /** Account funding: for example `card-account`. */
        receiver_account_number_type?: string;
    };
};
export type Customer = {
    /** Merchant's own customer reference. */
    merchant_customer_id?: string;
    email_address?: string;
    first_name?: string;
    last_name?: string;
    /** `billing` for account funding. */
    address_type?: string;
    /** Street and house number. */
    address?: string;
    postal_code?: string;
    city?: string;
    /** Two-letter state, province or territory code; for country US or CA. */
    state?: string;
    /** ISO 3166-1 alpha-2. */
    country?: string;
    /** Language the customer reads, for example `nl_NL`. */
    locale?: string;
    phone_numbers?: string[];
    ip_address?: string;
};
export type OrderRequest = {
    /** Must be supported by the project. */
    currency: string;
    /** In the smallest currency unit, VAT included. */
    amount: number;
    /** Merchant's own reference. Recommended. */
    merchant_order_id?: string;
    /** Recommended. */
    description?: string;
    /** How long the order stays valid, at most P30D. */
    expiration_period?: string;
    /** Payment methods shown on the hosted payment page. Without it every payment method active in the project is shown. */
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    /** One transaction chooses the method; without it the customer chooses on the hosted page. */
    transactions?: TransactionRequest[];
    /** Where the customer goes after paying, with `order_id` and `project_id` added to its query. Recommended. Without it the customer stays on the service's result page. */
    return_url?: string;
    /** Where the customer goes when payment ends as cancelled, expired or error. Without it the `return_url` is used. Its query gets the same ids. */
    failure_url?: string;
    /** Receives webhooks for this order; overrides the project's webhook URL. */
    webhook_url?: string;
    /** The payer. */
    customer?: Customer;
    /** The software that sends the request (platform or plugin). At most 16 KiB of JSON. */
    client?: {
        [key: string]: unknown;
    };
    /** Merchant's own data, stored and returned on retrieval. At most 16 KiB of JSON. */
    extra?: {
        [key: string]: unknown;
    };
    /** What was bought, stored and returned on retrieval. At most 128 KiB of JSON. */
    order_lines?: {
        [key: string]: unknown;
    }[];
    /** Language of the hosted payment page, for example `nl_NL`. */
    locale?: string;
};
export type Event = {
    id: string;
    /** The status moved to. */
    event: "new" | "pending" | "processing" | "accepted" | "error" | "cancelled" | "expired";
    /** Time of the event. */
    occurred: string;
    /** Time at which the service received it. */
    noticed: string;
    source: "customer" | "merchant" | "processor" | "service" | "operator";
    result?: "approved" | "declined" | "failed";
    /** ISO 8583 code of an issuer's decline, for example `05`. */
    authorization_iso_response_code?: string;
};
export type Transaction = {
    id: string;
    order_id: string;
    created: string;
    modified: string;
    amount: number;
    currency: string;
    /** `credit`: a payment. `debit`: money given back. */
    credit_debit: "credit" | "debit";
    payment_method: "credit-card" | "apple-pay" | "google-pay" | "credit-card-refund";
    /** For example `visa`, `mastercard`. */
    payment_method_brand?: string;
    payment_method_details?: {
        /** Masked card number, `411111******1111`. */
        truncated_pan?: string;
        /** MMYYYY. */
        card_expiry?: string;
        cardholder_name?: string;
        /** Reusable card token; keep and use it on the server only. */
        vault_token?: string;
        liability_shift?: boolean;
        /** Account funding: first six and last four. */
        receiver_account_number?: string;
        receiver_account_number_type?: string;
    };
    /** `manual`: captured or voided by the merchant. `delayed`: captured at the end of expiration_period. Absent: a sale, captured at once. */
    capture_mode?: "manual" | "delayed";
    expiration_period?: string;
    /** Time at which the transaction expires unless it is paid. Only with status new or pending. */
    expires_at?: string;
    /** End of the capture window. Only while the transaction can be captured. */
    capture_before?: string;
    transaction_type?: "authorization" | "aft" | "capture" | "void" | "refund" | "chargeback" | "reversal";
    refund_of_transaction_id?: string;
    /** True while the transaction can still be captured. Always there on a payment. */
    is_capturable?: boolean;
    captured_amount?: number;
    voided_amount?: number;
    settlement_currency?: string;
    /** What the processor paid out (`credit_debit` is `credit`) or took back (`debit`), never negative; once it is settled. */
    settlement_amount?: number;
    fee_currency?: string;
    /** Fee that the processor kept; once it is settled. */
    fee_amount?: number;
    status: "new" | "pending" | "processing" | "accepted" | "error" | "cancelled" | "expired";
    events?: Event[];
    outcomes?: {
        processing: {
            status: string;
            /** `00` means approved. */
            response_code?: string;
            response_code_description?: string;
        };
    };
    received_3ds_authentication?: {
        /** `failed` means that 3-D Secure failed. */
        result: string;
    };
    /** Hosted page of the transaction. */
    payment_url?: string;
};
export type Order = {
    id: string;
    project_id: string;
    merchant_id: string;
    merchant_name?: string;
    /** Merchant's own reference. Recommended. */
    merchant_order_id?: string;
    description?: string;
    currency: string;
    amount: number;
    status: "new" | "processing" | "see-transactions" | "completed" | "cancelled" | "expired" | "error";
    /** Labels of the order. */
    flags: ("is-test" | "is-capture" | "has-captures" | "is-void" | "has-voids" | "is-refund" | "has-refunds" | "is-chargeback" | "has-chargebacks" | "is-reversal" | "has-reversals")[];
    created: string;
    /** Of the last change of anything in this object. A newer version always has a later one. */
    modified: string;
    /** With status completed only. */
    completed?: string;
    expiration_period?: string;
    /** Time at which the order expires unless it is paid, or earlier with its transaction. Only while it can be paid. */
    expires_at?: string;
    /** The current time of the order, once it was advanced; in test projects only. */
    test_clock?: string;
    /** Payment methods shown on the hosted payment page. Without it every payment method active in the project is shown. */
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    /** Payment attempts, oldest first. */
    transactions?: Transaction[];
    /** Hosted payment page; the customer is sent here when no transaction was sent. */
    order_url?: string;
    /** Where the customer goes after paying, with `order_id` and `project_id` added to its query. Recommended. Without it the customer stays on the service's result page. */
    return_url?: string;
    /** Where the customer goes when payment ends as cancelled, expired or error. Without it the `return_url` is used. Its query gets the same ids. */
    failure_url?: string;
    /** Receives webhooks for this order; overrides the project's webhook URL. */
    webhook_url?: string;
    customer?: Customer;
    /** The software that sends the request (platform or plugin). At most 16 KiB of JSON. */
    client?: {
        [key: string]: unknown;
    };
    /** Merchant's own data, stored and returned on retrieval. At most 16 KiB of JSON. */
    extra?: {
        [key: string]: unknown;
    };
    /** What was bought, stored and returned on retrieval. At most 128 KiB of JSON. */
    order_lines?: {
        [key: string]: unknown;
    }[];
    /** Language of the hosted payment page, for example `nl_NL`. */
    locale?: string;
    /** Refunded so far. */
    refunded_amount?: number;
    refund_of_order_id?: string;
    /** Refund orders of this order. */
    refund_orders?: string[];
    capture_of_order_id?: string;
    void_of_order_id?: string;
    chargeback_of_order_id?: string;
    /** Chargeback orders of this order. */
    chargeback_orders?: string[];
    reversal_of_order_id?: string;
    /** Reversal orders of this order: chargebacks that were won back, and late approvals that were given back. */
    reversal_orders?: string[];
    /** Original order, for a refund, capture, void, chargeback or reversal: such an order pays for nothing. */
    related_order_id?: string;
    /** Orders created from this order. */
    related_orders?: string[];
    related_payment_link_id?: string;
    /** With `?fields[]=amount_details` only: what was moved and what still can be. */
    amount_details?: {
        capturable: number;
        captured: number;
        refundable: number;
        refunded: number;
        voidable: number;
        voided: number;
    };
};
export type Error = {
    error: {
        /** HTTP status code. */
        status: number;
        /** Error type. */
        "type": "ValidationError" | "IdempotencyKeyReused" | "MissingInformationToCreateTransaction" | "TransactionAlreadyStarted" | "CanNotCancelTransaction" | "RefundError" | "FailedToFetchTransactionInformation" | "ServerError" | "Unauthorized" | "Forbidden" | "NotFound" | "MethodNotAllowed" | "Conflict" | "PreconditionFailed" | "TooManyRequests" | "RequestTimeout" | "RequestHeaderFieldsTooLarge" | "PayloadTooLarge" | "UnsupportedMediaType";
        /** Short explanation. */
        value: string;
        /** The first wrong field, for example `transactions.0.payment_method`. */
        property_path?: string;
        /** The reason why it is refused. */
        property_description?: string;
        /** All wrong fields, the first included. */
        details?: {
            path: string;
            text: string;
        }[];
    };
};
export type OrderList = Order[];
export type OrderUpdate = {
    /** Merchant's own reference. Recommended. */
    merchant_order_id?: string | null;
    /** Recommended. */
    description?: string | null;
    /** Where the customer goes after paying, with `order_id` and `project_id` added to its query. Recommended. Without it the customer stays on the service's result page. */
    return_url?: string | null;
    /** Where the customer goes when payment ends as cancelled, expired or error. Without it the `return_url` is used. Its query gets the same ids. */
    failure_url?: string | null;
    /** Receives webhooks for this order; overrides the project's webhook URL. */
    webhook_url?: string | null;
    /** The payer. */
    customer?: Customer | null;
    /** Merchant's own data, stored and returned on retrieval. At most 16 KiB of JSON. */
    extra?: {
        [key: string]: unknown;
    } | null;
    /** Cannot change; accepted when it is that of the order. */
    currency?: string;
    /** Cannot change; accepted when it is that of the order. */
    amount?: number;
};
export type Timeline = {
    /** Oldest first. */
    entries: {
        at: string;
        /** `order.<status>`, `transaction.<status>`, `webhook.attempt`, `processor.asked` or `clock.moved`. */
        event: string;
        /** Description of the event. */
        text: string;
        /** The party that caused it. */
        by: "customer" | "merchant" | "processor" | "service" | "operator";
        /** The follow-up order that it happened to. */
        order_id?: string;
        transaction_id?: string;
        /** Number of the webhook. */
        delivery?: number;
    }[];
    /** Awaited events and their times, the next first; empty when nothing is awaited. */
    next: {
        /** Absent for a webhook that is paused. */
        at?: string;
        event: string;
        text: string;
    }[];
    /** With `forecast=true`: everything that will happen if nobody acts, the next first. */
    forecast?: {
        at: string;
        /** As in `entries`, or `webhook.attempts_removed`: the attempts of the webhook are no longer kept. */
        event: string;
        text: string;
        /** Number of the rule by which it happens. */
        rule: string;
        /** The follow-up order that it will happen to. */
        order_id?: string;
        transaction_id?: string;
        /** Number of the webhook. */
        delivery?: number;
    }[];
    /** The `cursor` of the next page; absent on the last one. */
    cursor?: string;
};
export type TestClockRequest = {
    /** By how much: PT1S to P400D; advances add up to P400D at most. */
    advance?: string;
    /** Target time, later than the current time of the object. */
    to?: string;
};
export type Delivery = {
    /** The order and the number of the delivery: `{order_id}-{n}`. */
    id: string;
    order_id: string;
    project_id: string;
    event: "status_changed";
    url: string;
    /** `new` or `paused` until a receiver answered 2xx or ten attempts failed. */
    status: "new" | "paused" | "delivered" | "failed";
    created: string;
    /** Time of the next attempt; absent while it is paused and once it is final. */
    next_attempt_at?: string;
    /** The first delivery of the same event; absent on that one. */
    redelivery_of?: string;
    attempts: {
        n: number;
        started: string;
        duration_ms: number;
        /** Status code of the receiver; absent when it did not answer. */
        status_code?: number;
        /** Why it does not count as received. */
        error?: string;
    }[];
};
export type DeliveryList = Delivery[];
export type WebhookEventPage = {
    /** Oldest first. */
    items: {
        /** The header `webhook-id`: the same at the `webhook_url`, if there is one. */
        webhook_id: string;
        event: "status_changed";
        order_id: string;
        project_id: string;
        created: string;
    }[];
    /** The place after these events, for the next request. Keep it over a restart. */
    cursor: string;
};
export type RecoverRequest = {
    /** Start of the time, for example of the outage of your receiver. */
    since: string;
    /** End of the time, at most 31 days after its start; now by default and at the latest. */
    until?: string;
};
export type WebhookRecovery = {
    id: string;
    project_id: string;
    since: string;
    /** End of the time; without one in the request, the time of the request. */
    until: string;
    /** `completed`: each webhook was sent and had its first attempt. Final: `completed` and `stopped`. */
    status: "running" | "paused" | "completed" | "stopped";
    /** Present while it is paused. `failures`: five webhooks in a row failed. */
    paused_by?: "request" | "failures";
    /** Webhooks that are still to be sent: one for each order. More than 10,000 are not counted. Absent when counting them takes long or fails: retrieve the recovery again. */
    remaining?: number;
    /** Webhooks that were sent, each with up to ten attempts. */
    sent: number;
    /** Of these, those that were received. */
    delivered: number;
    created: string;
    modified: string;
    completed?: string;
};
export type WebhookRecoveryPage = {
    /** Newest first. */
    items: WebhookRecovery[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type ReceiverCheckRequest = {
    /** The receiver; by default the `webhook_url` of the project. */
    webhook_url?: string;
};
export type ReceiverCheck = {
    id: string;
    project_id: string;
    /** The workflow that plays it, as the Web UI of Temporal shows it to operators. */
    workflow_id: string;
    webhook_url: string;
    /** `running` for less than 30 seconds as a rule. `stopped`: it could not be played, for the `reason`. */
    status: "running" | "done" | "stopped";
    /** The worst of the cases, once it is done. */
    result?: "passed" | "warning" | "failed" | "not_played";
    /** Why it was stopped. */
    reason?: string;
    created: string;
    completed?: string;
    /** Every case, once it is done. */
    cases: {
        "case": "once" | "twice_at_once" | "late" | "out_of_order" | "wrong_signature" | "old_timestamp" | "previous_secret" | "answered_500" | "cut_after_answer" | "slow_body" | "ten_at_once" | "after_silence";
        /** `warning`: it works, until an accident such as a crash at the wrong moment. `not_played`: earlier answers were too slow. */
        result: "passed" | "warning" | "failed" | "not_played";
        /** What happened, and what would go wrong in production. */
        text: string;
        /** How to mend it; absent when nothing has to be. */
        mend?: string;
        webhooks: {
            order_id: string;
            /** The header `webhook-id`. */
            webhook_id: string;
            /** `accepted`: a 2xx was right. `refused`: any other answer was. */
            expected: "accepted" | "refused";
            sent: string;
            duration_ms: number;
            /** Status code of the receiver; absent when it did not answer. */
            status_code?: number;
            /** Why there is no status code. */
            error?: string;
        }[];
        /** The requests of the project for these orders, `GET /v1/orders/{order_id}/`, oldest first. */
        reads: {
            request_id: string;
            order_id: string;
            /** The id of the API key. */
            api_key_id: string;
            received: string;
            /** Status code of the answer; absent when it was not sent as a whole. */
            status?: number;
        }[];
    }[];
};
export type PaymentLinkRequest = {
    /** Merchant's own reference. Orders of the link carry it too. */
    merchant_order_id: string;
    /** In the smallest currency unit, VAT included. */
    amount: number;
    /** Must be supported by the project. */
    currency: string;
    /** Orders of the link carry it too; without it they have none. */
    description?: string;
    /** Payment methods shown on the hosted page. Without it every method active in the project is shown. */
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    /** How long the link can be paid, 30 days by default, at most P365D. */
    expiration_period?: string;
    /** Where the customer goes after paying, with `order_id`, `project_id` and `payment_link_id` added to its query. Without it the customer stays on the result page. */
    return_url?: string;
    /** Receives the webhooks of the orders of the link. */
    webhook_url?: string;
};
export type PaymentLink = {
    id: string;
    project_id: string;
    merchant_id: string;
    /** Merchant's own reference. Orders of the link carry it too. */
    merchant_order_id: string;
    amount: number;
    currency: string;
    description?: string;
    /** Payment methods shown on the hosted page. Without it every method active in the project is shown. */
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    expiration_period: string;
    /** Where the customer goes after paying, with `order_id`, `project_id` and `payment_link_id` added to its query. Without it the customer stays on the result page. */
    return_url?: string;
    /** Receives the webhooks of the orders of the link. */
    webhook_url?: string;
    /** Address to send to the customer. */
    payment_url: string;
    status: "new" | "processing" | "all_unsuccessful" | "completed" | "expired";
    /** Why the link has its status, in words. */
    reason: string;
    /** The order that was paid. */
    completed_order_id?: string;
    /** IDs of the orders of the link by their status; an empty object when there are none. */
    orders: {
        [key: string]: string[];
    };
    /** Time at which the link expires; absent once its status is final. */
    expires_at?: string;
    /** The current time of the link, once it was advanced; in test projects only. */
    test_clock?: string;
    created: string;
    modified: string;
    /** With status completed only. */
    completed?: string;
};
export type PaymentLinkList = PaymentLink[];
export type SearchRequest = {
    /** The query: `*` for every order, or conditions such as `status:completed amount:[1000 TO *]`. */
    query: string;
    /** Orders on one page; 20 unless it is sent. */
    size?: number;
    /** Position of the first order. Pages with start reach the first 10000 orders. */
    start?: number;
    /** One of created, modified, completed, amount, transaction.amount, with `asc` (the default) or `desc`. `created desc` unless it is sent. */
    sort?: string;
    /** For all pages, however many: `-1` with the first request, then `sort` of the answer before. Query, sort and size stay the same; `start` is not sent. */
    search_after?: string | number;
};
export type SearchResult = {
    /** Orders that meet the query, on all pages. */
    hits: number;
    /** `hits` is more than 50,000 and counts transactions: there are at most so many orders, and more than 10,000. */
    hits_is_estimate?: true;
    /** The orders of this page, as they are now, with all amounts in minor units. */
    orders: Order[];
    /** There are fewer orders than `size` because more would have been over 16 MiB of JSON: `sort` leads to the rest. */
    is_truncated?: true;
    /** The `search_after` of the next page; absent on the last one. */
    sort?: string;
};
export type DayTotals = {
    day: string;
    /** One entry for each currency, sorted. */
    totals: {
        currency: string;
        /** Payment orders, paid or not. */
        orders: number;
        /** Accepted transactions of payment orders. */
        accepted_amount: number | null;
        /** Accepted refunds. */
        refunded_amount: number | null;
        /** Chargebacks; those that were won back are not taken off. */
        charged_back_amount: number | null;
        /** What the processor has paid out, less what it has taken back. */
        settled_amount: number | null;
        /** The processor's fees. */
        fee_amount: number | null;
    }[];
};
export type Project = {
    id: string;
    merchant_id: string;
    name: string;
    /** A suspended project takes no new orders, payment links or payments. */
    status: "active" | "active-testing" | "suspended";
    /** True: orders carry the flag is-test and no money moves. */
    is_test: boolean;
    webhook_url?: string;
    payment_methods: ("credit-card" | "apple-pay" | "google-pay")[];
    currencies: string[];
    /** Default of the order field of that name. */
    expiration_period: string;
    /** Default for paying a transaction, and for `delayed` captures. */
    transaction_expiration_period: string;
    /** Default for capturing `manual` transactions. */
    capture_expiration_period: string;
    /** Path → method → allowed. */
    permissions: {
        [key: string]: {
            [key: string]: boolean;
        };
    };
};
export type Currencies = {
    payment_methods: {
        [key: string]: {
            currencies: string[];
        };
    };
};
export type RequestLogEntry = {
    /** `X-Request-Id` of the answer. */
    id: string;
    received: string;
    /** `operationId` of the OpenAPI document. */
    operation: string;
    method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
    /** The path of the operation; the ids that were sent are in the fields of their names. */
    path: string;
    /** Status code of the answer; absent when the connection closed before the whole answer was sent. */
    status?: number;
    /** Milliseconds from the arrival of the request to the end of the answer. */
    duration_ms: number;
    /** Type of the error in the answer. */
    error_type?: "ValidationError" | "IdempotencyKeyReused" | "MissingInformationToCreateTransaction" | "TransactionAlreadyStarted" | "CanNotCancelTransaction" | "RefundError" | "FailedToFetchTransactionInformation" | "ServerError" | "Unauthorized" | "Forbidden" | "NotFound" | "MethodNotAllowed" | "Conflict" | "PreconditionFailed" | "TooManyRequests" | "RequestTimeout" | "RequestHeaderFieldsTooLarge" | "PayloadTooLarge" | "UnsupportedMediaType";
    /** Paths of the wrong fields, for example `transactions.0.payment_method`, up to the first name that the API does not define. */
    error_fields?: string[];
    /** The header `Idempotency-Key`. */
    idempotency_key?: string;
    /** Whether an earlier request with the same key was the same request. */
    is_repeat: boolean;
    /** The id of the API key, as the back office shows it. */
    api_key_id: string;
    /** The order in the path, or the order that was created. */
    order_id?: string;
    transaction_id?: string;
    /** The payment link in the path, or the one that was created. */
    payment_link_id?: string;
    /** The number of the webhook in the path. */
    n?: number;
    /** The order or payment link in the answer, for example the refund order. */
    object_id?: string;
};
export type RequestLogPage = {
    /** Newest first. */
    items: RequestLogEntry[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
/**
 * Create an order
 */
export function createOrder({ idempotencyKey, prefer, orderRequest }: {
    idempotencyKey?: string;
    prefer?: string;
    orderRequest: OrderRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 502;
        data: Error;
    } | {
        status: 503;
        data: Error;
    } | {
        status: 504;
        data: Error;
    }>("/v1/orders/", oazapfts.json({
        ...opts,
        method: "POST",
        body: orderRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            Prefer: prefer
        })
    }));
}
/**
 * List orders
 */
export function listOrders({ createdSince, createdUntil }: {
    createdSince?: string;
    createdUntil?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: OrderList;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${QS.query(QS.explode({
        created_since: createdSince,
        created_until: createdUntil
    }))}`, {
        ...opts
    });
}
/**
 * Get an order
 */
export function getOrder({ orderId, fieldsQuery, fields, ifNoneMatch, prefer }: {
    orderId: string;
    fieldsQuery?: "amount_details"[];
    fields?: "amount_details"[];
    ifNoneMatch?: string;
    prefer?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 304;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/${QS.query(QS.explode({
        "fields[]": fieldsQuery,
        fields
    }))}`, {
        ...opts,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-None-Match": ifNoneMatch,
            Prefer: prefer
        })
    });
}
/**
 * Change an order
 */
export function updateOrder({ orderId, idempotencyKey, ifMatch, orderUpdate }: {
    orderId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    orderUpdate: OrderUpdate;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: orderUpdate,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Cancel an order
 */
export function cancelOrder({ orderId, idempotencyKey, ifMatch }: {
    orderId: string;
    idempotencyKey?: string;
    ifMatch?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    });
}
/**
 * Get the timeline of an order
 */
export function getTimeline({ orderId, forecast, limit, cursor }: {
    orderId: string;
    forecast?: "true" | "false";
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Timeline;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/timeline/${QS.query(QS.explode({
        forecast,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Advance the clock of an order
 */
export function advanceOrderClock({ orderId, idempotencyKey, ifMatch, testClockRequest }: {
    orderId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    testClockRequest: TestClockRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/test-clock/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: testClockRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Create a refund
 */
export function refundOrder({ orderId, idempotencyKey, ifMatch, body }: {
    orderId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    body: {
        /** Smallest currency unit; the full amount, or less for a partial refund. */
        amount: number;
        /** That of the original order unless it is sent. */
        description?: string;
        /** That of the original order unless it is sent. */
        merchant_order_id?: string;
        /** Merchant's own data, stored and returned on retrieval. At most 16 KiB of JSON. */
        extra?: {
            [key: string]: unknown;
        };
    };
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/refunds/`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Capture a transaction
 */
export function captureTransaction({ orderId, transactionId, idempotencyKey, ifMatch, body }: {
    orderId: string;
    transactionId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    body?: {};
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/transactions/${encodeURIComponent(transactionId)}/captures/`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Capture a part of a transaction
 */
export function captureTransactionAmount({ orderId, transactionId, idempotencyKey, ifMatch, body }: {
    orderId: string;
    transactionId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    body: {
        /** Smallest currency unit; at most what is left. */
        amount: number;
        description: string;
    };
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/transactions/${encodeURIComponent(transactionId)}/captures/amount/`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Void a transaction
 */
export function voidTransaction({ orderId, transactionId, idempotencyKey, ifMatch, body }: {
    orderId: string;
    transactionId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    body?: {};
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/transactions/${encodeURIComponent(transactionId)}/voids/`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Void a part of a transaction
 */
export function voidTransactionAmount({ orderId, transactionId, idempotencyKey, ifMatch, body }: {
    orderId: string;
    transactionId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    body: {
        /** Smallest currency unit; at most what is left. */
        amount: number;
        description: string;
    };
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Order;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/transactions/${encodeURIComponent(transactionId)}/voids/amount/`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * List the webhooks of an order
 */
export function listOrderWebhooks({ orderId, limit, before }: {
    orderId: string;
    limit?: number;
    before?: number;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: DeliveryList;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/webhooks/${QS.query(QS.explode({
        limit,
        before
    }))}`, {
        ...opts
    });
}
/**
 * Send a webhook again
 */
export function redeliverOrderWebhook({ orderId, n, idempotencyKey }: {
    orderId: string;
    n: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: Delivery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/webhooks/${encodeURIComponent(n)}/redeliver/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * List webhook events
 */
export function listWebhookEvents({ limit, cursor, prefer }: {
    limit?: number;
    cursor?: string;
    prefer?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookEventPage;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/events/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            Prefer: prefer
        })
    });
}
/**
 * Send failed webhooks again
 */
export function recoverWebhooks({ idempotencyKey, recoverRequest }: {
    idempotencyKey?: string;
    recoverRequest: RecoverRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: WebhookRecovery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/v1/webhooks/recover/", oazapfts.json({
        ...opts,
        method: "POST",
        body: recoverRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List webhook recoveries
 */
export function listWebhookRecoveries({ limit, cursor }: {
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookRecoveryPage;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/recoveries/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get a webhook recovery
 */
export function getWebhookRecovery({ recoveryId }: {
    recoveryId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookRecovery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/recoveries/${encodeURIComponent(recoveryId)}/`, {
        ...opts
    });
}
/**
 * Pause a webhook recovery
 */
export function pauseWebhookRecovery({ recoveryId, idempotencyKey }: {
    recoveryId: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookRecovery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/recoveries/${encodeURIComponent(recoveryId)}/pause/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Resume a webhook recovery
 */
export function resumeWebhookRecovery({ recoveryId, idempotencyKey }: {
    recoveryId: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookRecovery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/recoveries/${encodeURIComponent(recoveryId)}/resume/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Stop a webhook recovery
 */
export function stopWebhookRecovery({ recoveryId, idempotencyKey }: {
    recoveryId: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookRecovery;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhooks/recoveries/${encodeURIComponent(recoveryId)}/stop/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Check the webhook receiver
 */
export function createReceiverCheck({ idempotencyKey, receiverCheckRequest }: {
    idempotencyKey?: string;
    receiverCheckRequest?: ReceiverCheckRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: ReceiverCheck;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/v1/projects/self/receiver-check/", oazapfts.json({
        ...opts,
        method: "POST",
        body: receiverCheckRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get a check of the webhook receiver
 */
export function getReceiverCheck({ checkId }: {
    checkId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ReceiverCheck;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/projects/self/receiver-checks/${encodeURIComponent(checkId)}/`, {
        ...opts
    });
}
/**
 * Create a payment link
 */
export function createPaymentLink({ idempotencyKey, paymentLinkRequest }: {
    idempotencyKey?: string;
    paymentLinkRequest: PaymentLinkRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: PaymentLink;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/v1/paymentlinks/", oazapfts.json({
        ...opts,
        method: "POST",
        body: paymentLinkRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List payment links
 */
export function listPaymentLinks({ createdSince, createdUntil }: {
    createdSince?: string;
    createdUntil?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PaymentLinkList;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/paymentlinks/${QS.query(QS.explode({
        created_since: createdSince,
        created_until: createdUntil
    }))}`, {
        ...opts
    });
}
/**
 * Get a payment link
 */
export function getPaymentLink({ paymentLinkId, ifNoneMatch }: {
    paymentLinkId: string;
    ifNoneMatch?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PaymentLink;
    } | {
        status: 304;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/paymentlinks/${encodeURIComponent(paymentLinkId)}/`, {
        ...opts,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-None-Match": ifNoneMatch
        })
    });
}
/**
 * End a payment link
 */
export function endPaymentLink({ paymentLinkId, idempotencyKey, ifMatch }: {
    paymentLinkId: string;
    idempotencyKey?: string;
    ifMatch?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PaymentLink;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/paymentlinks/${encodeURIComponent(paymentLinkId)}/`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    });
}
/**
 * Advance the clock of a payment link
 */
export function advancePaymentLinkClock({ paymentLinkId, idempotencyKey, ifMatch, testClockRequest }: {
    paymentLinkId: string;
    idempotencyKey?: string;
    ifMatch?: string;
    testClockRequest: TestClockRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PaymentLink;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 412;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/paymentlinks/${encodeURIComponent(paymentLinkId)}/test-clock/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: testClockRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey,
            "If-Match": ifMatch
        })
    }));
}
/**
 * Search orders
 */
export function searchOrders({ format, searchRequest }: {
    format?: "csv";
    searchRequest: SearchRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SearchResult;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/search/orders/${QS.query(QS.explode({
        format
    }))}`, oazapfts.json({
        ...opts,
        method: "POST",
        body: searchRequest
    }));
}
/**
 * Get the control totals of a day
 */
export function getTotals({ day }: {
    day?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: DayTotals;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/reports/totals/${QS.query(QS.explode({
        day
    }))}`, {
        ...opts
    });
}
/**
 * Get the project
 */
export function getProject(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Project;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/v1/merchants/self/projects/self/", {
        ...opts
    });
}
/**
 * List the currencies
 */
export function listCurrencies(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Currencies;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/v1/merchants/self/projects/self/currencies/", {
        ...opts
    });
}
/**
 * List requests
 */
export function listRequests({ since, until, onlyErrors, operation, status, limit, cursor }: {
    since?: string;
    until?: string;
    onlyErrors?: "true" | "false";
    operation?: "createOrder" | "listOrders" | "getOrder" | "getTimeline" | "advanceOrderClock" | "updateOrder" | "cancelOrder" | "refundOrder" | "captureTransaction" | "captureTransactionAmount" | "voidTransaction" | "voidTransactionAmount" | "listOrderWebhooks" | "redeliverOrderWebhook" | "listWebhookEvents" | "recoverWebhooks" | "listWebhookRecoveries" | "getWebhookRecovery" | "pauseWebhookRecovery" | "resumeWebhookRecovery" | "stopWebhookRecovery" | "createReceiverCheck" | "getReceiverCheck" | "createPaymentLink" | "listPaymentLinks" | "getPaymentLink" | "endPaymentLink" | "advancePaymentLinkClock" | "searchOrders" | "getTotals" | "getProject" | "listCurrencies";
    status?: number;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: RequestLogPage;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/requests/${QS.query(QS.explode({
        since,
        until,
        only_errors: onlyErrors,
        operation,
        status,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get a request
 */
export function getRequest({ requestId }: {
    requestId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: RequestLogEntry;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/requests/${encodeURIComponent(requestId)}/`, {
        ...opts
    });
}
/**
 * List the requests about an order
 */
export function listOrderRequests({ orderId, since, until, onlyErrors, operation, status, limit, cursor }: {
    orderId: string;
    since?: string;
    until?: string;
    onlyErrors?: "true" | "false";
    operation?: "createOrder" | "listOrders" | "getOrder" | "getTimeline" | "advanceOrderClock" | "updateOrder" | "cancelOrder" | "refundOrder" | "captureTransaction" | "captureTransactionAmount" | "voidTransaction" | "voidTransactionAmount" | "listOrderWebhooks" | "redeliverOrderWebhook" | "listWebhookEvents" | "recoverWebhooks" | "listWebhookRecoveries" | "getWebhookRecovery" | "pauseWebhookRecovery" | "resumeWebhookRecovery" | "stopWebhookRecovery" | "createReceiverCheck" | "getReceiverCheck" | "createPaymentLink" | "listPaymentLinks" | "getPaymentLink" | "endPaymentLink" | "advancePaymentLinkClock" | "searchOrders" | "getTotals" | "getProject" | "listCurrencies";
    status?: number;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: RequestLogPage;
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/orders/${encodeURIComponent(orderId)}/requests/${QS.query(QS.explode({
        since,
        until,
        only_errors: onlyErrors,
        operation,
        status,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}

