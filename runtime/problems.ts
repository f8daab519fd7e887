interface Problem {
  status: number
  /** The code on the wire; absent where the contract has none. */
  code?: string
  error: string
}

/**
 * Every expected failure with its status, wire code and default text. The one place where a code of `lib`
 * becomes HTTP: a code that is not listed here does not compile. Keep it sorted.
 */
export const PROBLEMS = {
  'alert-not-found': { status: 404, error: 'alert not found' },
  'alert-not-reopenable': {
    status: 409,
    code: 'alert_not_reopenable',
    error: 'alert can no longer be opened again',
  },
  'approval-already-pushed': {
    status: 409,
    code: 'approval_already_pushed',
    error: 'approval request has already been pushed',
  },
  'approval-not-found': { status: 404, error: 'approval request not found' },
  'approval-not-pending': {
    status: 409,
    code: 'approval_not_pending',
    error: 'approval request is not pending',
  },
  'approval-required': { status: 409, code: 'approval_required', error: 'approval request is not approved' },
  'audit-unavailable': { status: 503, error: 'audit unavailable' },
  'bad-request': { status: 400, error: 'bad request' },
  'body-too-large': { status: 413, error: 'request body too large' },
  'canary-in-conflict': { status: 409, error: 'canary refused' },
  'canary-refused': { status: 400, error: 'canary refused' },
  'component-not-installed': {
    status: 409,
    code: 'component_not_installed',
    error: 'configuration failed validation',
  },
  'config-approval-required': {
    status: 410,
    code: 'config_approval_required',
    error:
      'direct config push is disabled; create, approve, and push a config approval under /api/workloads/{id}/config/approvals',
  },
  'config-content-unavailable': {
    status: 410,
    code: 'config_content_unavailable',
    error: 'config content is not available',
  },
  'config-not-applied': {
    status: 409,
    code: 'not_applied',
    error: 'this config is not one that was applied here',
  },
  'config-not-found': { status: 404, error: 'config not found' },
  'config-policy-blocked': {
    status: 400,
    code: 'config_policy_blocked',
    error: 'configuration blocked by policy',
  },
  'configuration-invalid': { status: 400, error: 'configuration failed validation' },
  'database-statistics-unavailable': { status: 503, error: 'database statistics unavailable' },
  'database-unavailable': { status: 503, error: 'database unavailable' },
  'email-taken': { status: 409, code: 'email_taken', error: 'a user with this email already exists' },
  'feature-disabled': { status: 403, code: 'feature_disabled', error: 'feature disabled' },
  forbidden: { status: 403, error: 'forbidden' },
  'holder-inactive': {
    status: 403,
    code: 'holder_inactive',
    error: 'the holder of this token has not signed in for 14 days, or nobody owns the service account',
  },
  'instance-not-found': { status: 404, error: 'instance not found' },
  'internal-error': { status: 500, error: 'internal error' },
  'invalid-credentials': { status: 401, error: 'invalid credentials' },
  'invalid-json-body': { status: 400, code: 'invalid_json_body', error: 'invalid JSON body' },
  'invalid-scope': { status: 400, code: 'invalid_scope', error: 'invalid scope' },
  'invalid-time-range': { status: 400, code: 'invalid_time_range', error: 'invalid time range' },
  'invalid-rollback-request': { status: 400, code: 'invalid_request', error: 'invalid request' },
  'known-good-conflict': {
    status: 409,
    code: 'known_good_conflict',
    error: 'known-good precondition failed',
  },
  'known-good-not-found': { status: 404, error: 'known-good config not found' },
  'last-administrator': {
    status: 409,
    code: 'last_administrator',
    error: 'the last administrator cannot be removed or demoted',
  },
  'login-limited': { status: 429, error: 'too many login attempts' },
  'method-not-allowed': { status: 405, error: 'method not allowed' },
  'no-rollback-target': { status: 409, code: 'no_rollback_target', error: 'no rollback target' },
  'nothing-changes': {
    status: 409,
    code: 'nothing_changes',
    error: 'the draft is the active config already',
  },
  'not-found': { status: 404, error: 'not found' },
  'origin-refused': { status: 403, error: 'origin not allowed' },
  'password-mismatch': { status: 401, error: 'current password does not match' },
  'pdf-unavailable': { status: 501, code: 'pdf_unavailable', error: 'pdf export unavailable' },
  'push-group-not-found': { status: 404, error: 'push group not found' },
  'push-group-taken': {
    status: 409,
    code: 'push_group_taken',
    error: 'a push group with this id already exists',
  },
  'remote-config-unsupported': {
    status: 409,
    code: 'remote_config_unsupported',
    error: 'workload does not accept remote config',
  },
  'report-build-failed': { status: 500, code: 'report_build_failed', error: 'failed to build evidence pack' },
  'report-not-kept': {
    status: 409,
    code: 'report_not_kept',
    error: 'the previewed report is not kept any more',
  },
  'report-scope-empty': { status: 409, code: 'report_scope_empty', error: 'report scope empty' },
  'report-signing-unavailable': {
    status: 503,
    code: 'report_signing_unavailable',
    error: 'report signing unavailable',
  },
  'request-body-too-large': { status: 413, code: 'request_body_too_large', error: 'request body too large' },
  'revision-not-found': { status: 404, error: "config not found in this workload's history" },
  'rollout-ended': { status: 409, code: 'rollout_ended', error: 'the rollout has ended' },
  'rollout-not-found': { status: 404, error: 'canary not found' },
  'rollout-not-halted': {
    status: 409,
    code: 'rollout_not_halted',
    error: 'only a halted rollout can be continued',
  },
  'seed-admin': {
    status: 409,
    code: 'seed_admin',
    error: 'the administrator named by SEED_ADMIN_EMAIL cannot be removed or demoted',
  },
  'server-busy': { status: 503, error: 'server is busy' },
  'server-stopping': { status: 503, error: 'server is stopping' },
  'target-content-unavailable': {
    status: 410,
    code: 'target_content_unavailable',
    error: 'config content is not available',
  },
  'target-not-applied': {
    status: 409,
    code: 'target_not_applied',
    error: 'this config was never applied on this workload',
  },
  'target-not-found': {
    status: 404,
    code: 'target_not_found',
    error: "config not found in this workload's history",
  },
  'target-yaml-invalid': {
    status: 400,
    code: 'target_yaml_invalid',
    error: 'configuration failed validation',
  },
  'token-limited': { status: 429, code: 'token_limited', error: 'too many unknown tokens' },
  'token-not-found': { status: 404, error: 'token not found' },
  'too-many-service-accounts': {
    status: 409,
    code: 'too_many_service_accounts',
    error: 'there are 1000 service accounts; remove one first',
  },
  'too-many-tokens': {
    status: 409,
    code: 'too_many_tokens',
    error: 'the holder has 100 tokens; revoke one first',
  },
  unauthorized: { status: 401, error: 'unauthorized' },
  'unsupported-export-format': {
    status: 400,
    code: 'unsupported_export_format',
    error: 'unsupported export format',
  },
  'unsupported-redaction-mode': {
    status: 400,
    code: 'unsupported_redaction_mode',
    error: 'unsupported redaction mode',
  },
  'unsupported-report-type': {
    status: 400,
    code: 'unsupported_report_type',
    error: 'unsupported report_type',
  },
  'unsupported-schema-version': {
    status: 400,
    code: 'unsupported_schema_version',
    error: 'unsupported schema_version',
  },
  'user-not-found': { status: 404, error: 'user not found' },
  'validation-failed': {
    status: 400,
    code: 'validation_failed',
    error: 'configuration failed validation',
  },
  'workload-archived': { status: 409, code: 'workload_archived', error: 'workload is archived' },
  'workload-not-collector': {
    status: 409,
    code: 'workload_not_collector',
    error: 'workload is not a collector',
  },
  'workload-not-connected': {
    status: 409,
    code: 'workload_not_connected',
    error: 'workload is not connected',
  },
  'service-account-not-found': { status: 404, error: 'service account not found' },
  'service-account-taken': {
    status: 409,
    code: 'service_account_taken',
    error: 'a service account with this name already exists',
  },
  'session-required': {
    status: 403,
    code: 'session_required',
    error: 'this needs a person who is signed in, not a token',
  },
  'stage-empty': {
    status: 409,
    code: 'stage_empty',
    error: 'no instance of the first stage could take the config and report on it',
  },
  'workload-not-disconnected': {
    status: 409,
    code: 'workload_not_disconnected',
    error: 'only disconnected workloads can be archived',
  },
  'workload-not-found': { status: 404, error: 'workload not found' },
} as const satisfies Record<string, Problem>

export type ProblemCode = keyof typeof PROBLEMS
