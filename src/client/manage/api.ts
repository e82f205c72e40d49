// @ts-nocheck: the types of its runtime do not know exactOptionalPropertyTypes.
/**
 * Payments management API
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
export type Merchant = {
    id: string;
    /** Shown to customers on the hosted page. */
    name: string;
    country: string;
    /** The currency of a new project that names none. */
    default_currency: string;
    created: string;
    modified: string;
};
export type MerchantPage = {
    /** Newest first. */
    items: Merchant[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
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
export type MerchantRequest = {
    name: string;
    country: string;
    default_currency: string;
};
export type MerchantUpdate = {
    name?: string;
    country?: string;
    default_currency?: string;
};
export type Project = {
    id: string;
    merchant_id: string;
    name: string;
    /** True: orders carry the flag is-test and no money moves. It never changes. */
    is_test: boolean;
    /** A suspended project takes no new orders, payment links or payments. */
    status: "active" | "suspended";
    /** Who has suspended it; absent while it is active. Read-only. */
    suspended_by?: "operator" | "merchant";
    webhook_url?: string;
    payment_methods: ("credit-card" | "apple-pay" | "google-pay")[];
    currencies: string[];
    /** Default of the order field of that name. */
    expiration_period: string;
    /** Default for paying a transaction, and for `delayed` captures. */
    transaction_expiration_period: string;
    /** Default for capturing `manual` transactions. */
    capture_expiration_period: string;
    /** Whether it may load other accounts. Operators change it. */
    account_funding: boolean;
    created: string;
    modified: string;
};
export type ProjectPage = {
    /** Newest first. */
    items: Project[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type ProjectRequest = {
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    currencies?: string[];
    expiration_period?: string;
    transaction_expiration_period?: string;
    capture_expiration_period?: string;
    account_funding?: boolean;
    name: string;
    is_test: boolean;
    webhook_url?: string;
};
export type ProjectUpdate = {
    name?: string;
    payment_methods?: ("credit-card" | "apple-pay" | "google-pay")[];
    currencies?: string[];
    expiration_period?: string;
    transaction_expiration_period?: string;
    capture_expiration_period?: string;
    account_funding?: boolean;
    status?: "active" | "suspended";
    webhook_url?: string | null;
};
export type WebhookSecret = {
    project_id: string;
    /** Signs the webhooks of the project: `whsec_` and base64, as Standard Webhooks has it. */
    secret: string;
    /** Until when webhooks carry a signature of the secret before, too; absent without one. */
    previous_expires?: string;
};
export type WebhookSecretRollRequest = {
    /** How long the replaced key or secret keeps working: PT24H by default, P30D at most; PT0S ends it at once. */
    overlap?: string;
};
export type ApiKey = {
    id: string;
    project_id: string;
    /** The part of the key that may be shown. */
    prefix: string;
    created: string;
    /** The day of its last use, in UTC. */
    last_used?: string;
    /** Time at which it stops working; absent: it does not expire. */
    expires?: string;
};
export type ApiKeyPage = {
    /** Newest first. */
    items: ApiKey[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type NewApiKey = {
    id: string;
    project_id: string;
    /** The part of the key that may be shown. */
    prefix: string;
    created: string;
    /** The day of its last use, in UTC. */
    last_used?: string;
    /** Time at which it stops working; absent: it does not expire. */
    expires?: string;
    /** The whole key. It is shown this once. */
    key: string;
};
export type ApiKeyRollRequest = {
    /** How long the replaced key or secret keeps working: PT24H by default, P30D at most; PT0S ends it at once. */
    overlap?: string;
};
export type Client = {
    client_id: string;
    name: string;
    /** An operator sees and changes everything; a merchant its own merchant. */
    role: "operator" | "merchant";
    /** The merchant of a client with role merchant. */
    merchant_id?: string;
    created: string;
    /** The day of its last token, in UTC. */
    last_used?: string;
    /** Time at which the secret before the current one stops working; absent without one. */
    expires?: string;
};
export type ClientPage = {
    /** Newest first. */
    items: Client[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type ClientRequest = {
    name: string;
    role: "operator" | "merchant";
    /** Required with role merchant, and only then. */
    merchant_id?: string;
};
export type NewClient = {
    client_id: string;
    name: string;
    /** An operator sees and changes everything; a merchant its own merchant. */
    role: "operator" | "merchant";
    /** The merchant of a client with role merchant. */
    merchant_id?: string;
    created: string;
    /** The day of its last token, in UTC. */
    last_used?: string;
    /** Time at which the secret before the current one stops working; absent without one. */
    expires?: string;
    /** The secret. It is shown this once. */
    client_secret: string;
};
export type ClientRollRequest = {
    /** How long the replaced key or secret keeps working: PT0S by default, P30D at most; PT0S ends it at once. */
    overlap?: string;
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
export type DeliveryPage = {
    /** Newest first. */
    items: Delivery[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type RecoverRequest = {
    /** Start of the time, for example of the outage of your receiver. */
    since: string;
    /** End of the time, at most 31 days after its start; now by default and at the latest. */
    until?: string;
    project_id: string;
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
export type ErasureRequest = {
    project_id: string;
    /** All orders with this `customer.merchant_customer_id`. */
    merchant_customer_id?: string;
    /** All orders with this `customer.email_address`, in capital or small letters. */
    email_address?: string;
    /** This order alone, for example one without customer data that was paid on the page. */
    order_id?: string;
};
export type Erasure = {
    id: string;
    project_id: string;
    status: "running" | "completed";
    /** The field of the request that named the customer. */
    named_by: "merchant_customer_id" | "email_address" | "order_id";
    /** The payment order, if the request named one. */
    order_id?: string;
    /** Payment orders that were erased, each with the orders that follow it. */
    orders: number;
    created: string;
    completed?: string;
};
export type ErasurePage = {
    /** Newest first. */
    items: Erasure[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type Incident = {
    id: string;
    /** How the two differ; docs/operations.md says what to do for each kind. */
    kind: "missing_in_record" | "status" | "amount" | "double_charge" | "refund_too_large" | "settlement" | "sum";
    status: "open" | "closed";
    project_id: string;
    /** What differs: a transaction, or of kind sum its project, operation, currency and hour. */
    object_id: string;
    /** The payment order; absent for a sum. */
    order_id?: string;
    /** The payment's transaction; absent for a sum. */
    transaction_id?: string;
    currency: string;
    /** What the record has. 0: nothing. */
    record_amount: number;
    /** What the processor has. 0: nothing. */
    processor_amount: number;
    /** The difference in words. */
    description: string;
    opened: string;
    /** When the audit found the difference last. */
    last_seen: string;
    closed?: string;
    /** audit: a later run did not find the difference. */
    closed_by?: "audit" | "operator";
    /** Why it is closed. */
    reason?: string;
};
export type IncidentPage = {
    /** Newest first. */
    items: Incident[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type IncidentCloseRequest = {
    /** Why the difference is right, or how it was settled; recorded in the audit trail. */
    reason: string;
};
export type AuditEntry = {
    id: string;
    at: string;
    /** Who did it: the id of the client or API key, the name of the user at the command line, or the name that an operator gave in Temporal. A merchant reads `operator` in place of the id where an operator did it. */
    actor: {
        kind: "client" | "api_key" | "command_line" | "temporal";
        id: string;
    };
    /** For example `project.update`. */
    action: string;
    "object": {
        kind: string;
        id: string;
    };
    /** The object before, without secrets; absent when it was created. */
    before?: {
        [key: string]: unknown;
    };
    /** The object after, without secrets; absent when it was deleted. */
    after?: {
        [key: string]: unknown;
    };
    /** `X-Request-Id` of the request. */
    request_id?: string;
};
export type AuditPage = {
    /** Newest first. */
    items: AuditEntry[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type Attention = {
    id: string;
    /** A webhook has the id of its delivery, a workflow without a record its workflow id. */
    "object": {
        kind: "order" | "webhook" | "settlements" | "search_index" | "workflow";
        id: string;
    };
    project_id?: string;
    /** The text of the search attribute `Attention`. */
    reason: string;
    since: string;
    /** Absent while an operator has to act. */
    until?: string;
};
export type AttentionPage = {
    /** Newest first. */
    items: Attention[];
    /** The cursor of the next page; absent on the last one. */
    next?: string;
};
export type Changelog = {
    items: {
        version: string;
        date: string;
        text: string;
    }[];
};
/**
 * List merchants
 */
export function listMerchants({ limit, cursor }: {
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: MerchantPage;
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
    }>(`/v1/merchants/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Create a merchant
 */
export function createMerchant({ idempotencyKey, merchantRequest }: {
    idempotencyKey?: string;
    merchantRequest: MerchantRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: Merchant;
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
    }>("/v1/merchants/", oazapfts.json({
        ...opts,
        method: "POST",
        body: merchantRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get a merchant
 */
export function getMerchant({ merchantId }: {
    merchantId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Merchant;
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
    }>(`/v1/merchants/${encodeURIComponent(merchantId)}/`, {
        ...opts
    });
}
/**
 * Change a merchant
 */
export function updateMerchant({ merchantId, idempotencyKey, merchantUpdate }: {
    merchantId: string;
    idempotencyKey?: string;
    merchantUpdate: MerchantUpdate;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Merchant;
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
    }>(`/v1/merchants/${encodeURIComponent(merchantId)}/`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: merchantUpdate,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List projects
 */
export function listProjects({ merchantId, limit, cursor }: {
    merchantId: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ProjectPage;
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
    }>(`/v1/merchants/${encodeURIComponent(merchantId)}/projects/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Create a project
 */
export function createProject({ merchantId, idempotencyKey, projectRequest }: {
    merchantId: string;
    idempotencyKey?: string;
    projectRequest: ProjectRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
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
        status: 404;
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
    }>(`/v1/merchants/${encodeURIComponent(merchantId)}/projects/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: projectRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get a project
 */
export function getManagedProject({ projectId }: {
    projectId: string;
}, opts?: Oazapfts.RequestOpts) {
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/`, {
        ...opts
    });
}
/**
 * Change a project
 */
export function updateProject({ projectId, idempotencyKey, projectUpdate }: {
    projectId: string;
    idempotencyKey?: string;
    projectUpdate: ProjectUpdate;
}, opts?: Oazapfts.RequestOpts) {
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
        status: 404;
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: projectUpdate,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get the webhook secret
 */
export function getWebhookSecret({ projectId }: {
    projectId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookSecret;
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/webhook-secret/`, {
        ...opts
    });
}
/**
 * Roll the webhook secret
 */
export function rollWebhookSecret({ projectId, idempotencyKey, webhookSecretRollRequest }: {
    projectId: string;
    idempotencyKey?: string;
    webhookSecretRollRequest?: WebhookSecretRollRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookSecret;
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/webhook-secret/roll/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: webhookSecretRollRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List API keys
 */
export function listApiKeys({ projectId, limit, cursor }: {
    projectId: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ApiKeyPage;
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/api-keys/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Create an API key
 */
export function createApiKey({ projectId, idempotencyKey }: {
    projectId: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: NewApiKey;
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
    }>(`/v1/projects/${encodeURIComponent(projectId)}/api-keys/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Roll an API key
 */
export function rollApiKey({ id, idempotencyKey, apiKeyRollRequest }: {
    id: string;
    idempotencyKey?: string;
    apiKeyRollRequest?: ApiKeyRollRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: NewApiKey;
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
    }>(`/v1/api-keys/${encodeURIComponent(id)}/roll/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: apiKeyRollRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Revoke an API key
 */
export function revokeApiKey({ id, idempotencyKey }: {
    id: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 204;
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
    }>(`/v1/api-keys/${encodeURIComponent(id)}/`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * List clients
 */
export function listClients({ limit, cursor }: {
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ClientPage;
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
    }>(`/v1/clients/${QS.query(QS.explode({
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Create a client
 */
export function createClient({ idempotencyKey, clientRequest }: {
    idempotencyKey?: string;
    clientRequest: ClientRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: NewClient;
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
    }>("/v1/clients/", oazapfts.json({
        ...opts,
        method: "POST",
        body: clientRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Roll the secret of a client
 */
export function rollClient({ clientId, idempotencyKey, clientRollRequest }: {
    clientId: string;
    idempotencyKey?: string;
    clientRollRequest?: ClientRollRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: NewClient;
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
    }>(`/v1/clients/${encodeURIComponent(clientId)}/roll/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: clientRollRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Revoke a client
 */
export function revokeClient({ clientId, idempotencyKey }: {
    clientId: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 204;
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
    }>(`/v1/clients/${encodeURIComponent(clientId)}/`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * List webhook deliveries
 */
export function listDeliveries({ projectId, orderId, status, since, limit, cursor }: {
    projectId?: string;
    orderId?: string;
    status?: "new" | "paused" | "delivered" | "failed";
    since?: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: DeliveryPage;
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
    }>(`/v1/webhook-deliveries/${QS.query(QS.explode({
        project_id: projectId,
        order_id: orderId,
        status,
        since,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get a webhook delivery
 */
export function getDelivery({ id }: {
    id: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
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
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/v1/webhook-deliveries/${encodeURIComponent(id)}/`, {
        ...opts
    });
}
/**
 * Redeliver a webhook
 */
export function redeliver({ id, idempotencyKey }: {
    id: string;
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
    }>(`/v1/webhook-deliveries/${encodeURIComponent(id)}/redeliver/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Deliver a webhook now
 */
export function deliverNow({ id, idempotencyKey }: {
    id: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
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
    }>(`/v1/webhook-deliveries/${encodeURIComponent(id)}/deliver-now/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Pause a webhook delivery
 */
export function pauseDelivery({ id, idempotencyKey }: {
    id: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
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
    }>(`/v1/webhook-deliveries/${encodeURIComponent(id)}/pause/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    });
}
/**
 * Resume a webhook delivery
 */
export function resumeDelivery({ id, idempotencyKey }: {
    id: string;
    idempotencyKey?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
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
    }>(`/v1/webhook-deliveries/${encodeURIComponent(id)}/resume/`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
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
        status: 404;
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
export function listWebhookRecoveries({ projectId, limit, cursor }: {
    projectId?: string;
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
        project_id: projectId,
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
 * Erase a customer's data
 */
export function eraseCustomer({ idempotencyKey, erasureRequest }: {
    idempotencyKey?: string;
    erasureRequest: ErasureRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: Erasure;
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
    }>("/v1/erasures/", oazapfts.json({
        ...opts,
        method: "POST",
        body: erasureRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List erasures
 */
export function listErasures({ projectId, limit, cursor }: {
    projectId?: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ErasurePage;
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
    }>(`/v1/erasures/${QS.query(QS.explode({
        project_id: projectId,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get an erasure
 */
export function getErasure({ erasureId }: {
    erasureId: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Erasure;
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
    }>(`/v1/erasures/${encodeURIComponent(erasureId)}/`, {
        ...opts
    });
}
/**
 * List incidents
 */
export function listIncidents({ status, kind, projectId, limit, cursor }: {
    status?: "open" | "closed";
    kind?: "missing_in_record" | "status" | "amount" | "double_charge" | "refund_too_large" | "settlement" | "sum";
    projectId?: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: IncidentPage;
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
    }>(`/v1/incidents/${QS.query(QS.explode({
        status,
        kind,
        project_id: projectId,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get an incident
 */
export function getIncident({ id }: {
    id: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Incident;
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
    }>(`/v1/incidents/${encodeURIComponent(id)}/`, {
        ...opts
    });
}
/**
 * Close an incident
 */
export function closeIncident({ id, idempotencyKey, incidentCloseRequest }: {
    id: string;
    idempotencyKey?: string;
    incidentCloseRequest: IncidentCloseRequest;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Incident;
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
    }>(`/v1/incidents/${encodeURIComponent(id)}/close/`, oazapfts.json({
        ...opts,
        method: "POST",
        body: incidentCloseRequest,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the audit trail
 */
export function listAuditTrail({ actor, $object, since, limit, cursor }: {
    actor?: string;
    $object?: string;
    since?: string;
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: AuditPage;
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
    }>(`/v1/audit-trail/${QS.query(QS.explode({
        actor,
        "object": $object,
        since,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * List what needs an operator
 */
export function listAttentions({ status, limit, cursor }: {
    status?: "open" | "all";
    limit?: number;
    cursor?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: AttentionPage;
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
    }>(`/v1/attentions/${QS.query(QS.explode({
        status,
        limit,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Get the changelog
 */
export function getChangelog(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Changelog;
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
    }>("/v1/changelog/", {
        ...opts
    });
}

