import { HOLDER_ACTIVE_DAYS, ROLL_BACK_DAYS } from '../lib/model/lifetimes.ts'

interface Problem {
  status: number
  /** The code on the wire. Absent where it is the key with underscores; null where the body has no room for a code. */
  code?: string | null
  /** An English sentence. `{max}` stands for the detail of that name, which is in the body as well. */
  error: string
}

/**
 * Every refusal and expected failure with its status, its code on the wire and its sentence. The one place where a
 * code of `lib` becomes HTTP: a code that is not listed here does not compile. `runtime/ui/i18n/problems.ts` says each
 * in English and French. Keep it sorted.
 *
 * Bodies of which clients know every byte, as that of `forbidden`, have no code: their status says which they are,
 * and of a failed audit its `side_effect_status`.
 */
export const PROBLEMS = {
  'account-unknown': {
    status: 400,
    error:
      'to_account_id must be the id of a user or of a service account, the e-mail of one user, or service: and a name',
  },
  'activity-too-many': { status: 400, error: 'ids names more than {max} workloads' },
  'alert-ids-invalid': { status: 400, error: 'alert_ids must name 1 to {max} alerts' },
  'alert-needs-another': {
    status: 409,
    error: 'this alert is about what you did or asked for: somebody else must resolve it',
  },
  'alert-not-found': { status: 404, error: 'alert not found' },
  'alert-not-reopenable': { status: 409, error: 'alert can no longer be opened again' },
  'already-linked': { status: 409, error: 'this user is linked already; the request is gone' },
  'approval-already-pushed': { status: 409, error: 'approval request has already been pushed' },
  'approval-drafts-too-large': {
    status: 409,
    error:
      'the drafts of your open requests are together larger than {max} MiB: withdraw one of them, or have it decided',
  },
  'approval-expired': { status: 409, error: 'an approval is too old for the approval policy: approve again' },
  'approval-needs-another': {
    status: 409,
    error: 'the approval policy asks for somebody else. {hint}',
  },
  'approval-not-found': { status: 404, error: 'approval request not found' },
  'approval-not-pending': { status: 409, error: 'approval request is not pending' },
  'approval-required': { status: 409, error: 'approval request is not approved' },
  'approved-for-less': {
    status: 409,
    error:
      'this config was approved here by less than what is asked now, so no token may bring it back: request it, or let somebody who is signed in do it',
  },
  'audit-unavailable': { status: 503, code: null, error: 'audit unavailable' },
  'auto-apply-in-force': {
    status: 409,
    error: 'a version applies by itself: selector and priority change with a request for it',
  },
  'auto-apply-lapsed': { status: 409, error: 'what was approved does not hold any more: {reason}' },
  'auto-apply-needs-campaign': {
    status: 409,
    error: 'no campaign that is done has brought this version there',
  },
  'auto-apply-not-found': { status: 404, error: 'nothing is asked for, or applies by itself' },
  'auto-apply-not-ready': { status: 409, error: 'what applies by itself is {status}' },
  'auto-apply-plan-changed': { status: 409, error: 'the plan is another one than that which was looked at' },
  'auto-apply-requested-already': { status: 409, error: 'a request waits for approval already' },
  'auto-apply-rolled-back': { status: 409, error: 'this version was rolled back' },
  'body-list-too-long': { status: 400, error: '{field} has more than {max} entries' },
  'body-not-utf8': { status: 400, error: 'the body is not valid UTF-8' },
  'body-number-unsafe': {
    status: 400,
    error: '{field} has a number that cannot be held exactly: write it as a text',
  },
  'body-too-deep': { status: 400, error: 'the body is nested deeper than {max}' },
  'body-too-large': { status: 413, code: null, error: 'request body too large' },
  'body-values-too-many': { status: 400, error: 'the body has more than {max} values' },
  'break-glass-reason-required': { status: 400, error: 'break_glass_reason is required' },
  'campaign-approved-for-less': {
    status: 409,
    error:
      'what {workload} ran before was approved there by less than what is asked now, so no token may take the campaign back: let somebody who is signed in do it',
  },
  'campaign-being-planned': { status: 409, error: 'the campaign is being planned already' },
  'campaign-change-invalid': { status: 400, error: 'change: {reason}' },
  'campaign-changes-nothing': { status: 409, error: 'the plan of the campaign changes no workload' },
  'campaign-drafts-too-large': {
    status: 409,
    error:
      'your campaigns that were not started are together larger than {max} MiB: remove or withdraw one of them, or make one smaller',
  },
  'campaign-drafts-too-many': {
    status: 409,
    error: 'you have {max} campaigns that were not started: remove or withdraw one of them',
  },
  'campaign-group-not-found': {
    status: 404,
    error: 'the plan has no such group, or its texts are not kept any more',
  },
  'campaign-limit-lowered': {
    status: 409,
    error: '{field} is {limit} already: a limit can be raised, not lowered',
  },
  'campaign-list-too-long': { status: 400, error: '{field} has more than {max} entries' },
  'campaign-no-way-back': {
    status: 409,
    error:
      'no workload that still runs what the campaign brought has a former config: nothing would be taken back',
  },
  'campaign-not-found': { status: 404, error: 'campaign not found' },
  'campaign-not-ready': { status: 409, error: 'the campaign is {status}' },
  'campaign-nothing-left': {
    status: 409,
    error:
      'no workload is left to be changed, and none has the change whole: abort the campaign or roll it back',
  },
  'campaign-number-invalid': { status: 400, error: '{field} must be a number from {min} to {max}' },
  'campaign-patch-unfit': {
    status: 409,
    error: 'the patch does not fit {count} of the workloads, and the campaign asks to be refused then',
  },
  'campaign-plan-changed': {
    status: 409,
    error: 'the plan of the campaign is another one than that which was looked at',
  },
  'campaign-plan-unnamed': {
    status: 400,
    error: 'plan_hash is needed: that of the plan that was looked at, as GET /api/campaigns/{id} shows it',
  },
  'campaign-scope-empty': { status: 400, error: 'scope needs a selector or workload_ids' },
  'campaign-text-invalid': { status: 400, error: 'texts must be Unicode without null characters' },
  'campaign-too-old': { status: 409, error: `the campaign ended more than ${ROLL_BACK_DAYS} days ago` },
  'campaign-wave-ambiguous': { status: 400, error: '{field} has both count and percentage' },
  'campaign-window-invalid': { status: 400, error: '{reason}' },
  'canary-empty': { status: 400, error: 'canary target set is empty' },
  'canary-too-broad': { status: 400, error: 'canary target set must be smaller than eligible instances' },
  'collector-degraded': { status: 409, error: 'collector degraded: {instance}' },
  'command-line-code-invalid': {
    status: 400,
    error: 'the code is unknown, was used, or is over: sign in again',
  },
  'command-line-login-invalid': { status: 400, error: 'this is no sign-in of a command line' },
  'comment-required': { status: 400, error: 'comment is required' },
  'comments-full': { status: 400, error: 'a change takes {max} comments at most' },
  'comments-full-of-one': { status: 400, error: 'of one account a change takes {max} comments at most' },
  'component-not-installed': { status: 409, error: 'configuration failed validation' },
  'config-approval-required': {
    status: 410,
    error:
      'direct config push is disabled; create, approve, and push a config approval under /api/workloads/{id}/config/approvals',
  },
  'config-content-unavailable': { status: 410, error: 'config content is not available' },
  'config-empty': { status: 400, error: 'empty config body' },
  'config-not-applied': {
    status: 409,
    code: 'not_applied',
    error: 'this config is not one that was applied here',
  },
  'config-not-approved': {
    status: 409,
    error: 'nobody ever approved this config here: it was pushed by breaking the glass',
  },
  'config-not-found': { status: 404, error: 'config not found' },
  'config-policy-blocked': { status: 400, error: 'configuration blocked by policy' },
  'config-quarantined': {
    status: 409,
    error:
      'this config failed on this workload: correct it, or send retry_quarantined to ask for it again as it is',
  },
  'configuration-invalid': { status: 400, error: 'configuration failed validation' },
  'credentials-required': { status: 400, error: 'email and password are required' },
  'database-statistics-unavailable': { status: 503, error: 'database statistics unavailable' },
  'database-unavailable': { status: 503, error: 'database unavailable' },
  'deletion-hides-labels': {
    status: 409,
    error:
      'approvals keep to the stricter rule until a second person has accepted the changed labels of this workload, or for a day: delete it after that',
  },
  'deletion-hides-review': {
    status: 409,
    error:
      'the glass was broken for this workload, and its instances run on: it can be deleted once a second person has looked at that',
  },
  'deletion-lifts-git': {
    status: 409,
    error:
      'this would end that Git keeps the config of this workload: it needs config:break_glass, in person',
  },
  'deletion-lifts-hold': {
    status: 409,
    error: 'this would end the hold of this workload: it needs workload:push_config',
  },
  'deletion-lifts-labels': {
    status: 409,
    error:
      'this would take the trusted labels away that were set by hand, and with them freezes, scopes and policies that go by them: it needs settings:manage, in person',
  },
  'deletion-lifts-variables': {
    status: 409,
    error: 'this would take the values of variables of this workload away: it needs config:create',
  },
  'deletion-lowers': {
    status: 409,
    error:
      'this workload would come back without the labels that were set by hand, and approvals would ask less: take the labels away first',
  },
  'description-too-long': { status: 400, error: 'description exceeds {max} characters' },
  'diff-texts-required': { status: 400, error: 'base_yaml and target_yaml are required' },
  'draft-empty': { status: 400, error: 'empty config draft' },
  'email-invalid': { status: 400, error: 'email must be an e-mail address' },
  'email-looks-alike': { status: 409, error: 'the email looks like that of another user: {email}' },
  'email-taken': { status: 409, error: 'a user with this email already exists' },
  'email-too-long': { status: 400, error: 'email must be at most {max} characters' },
  'expiry-invalid': { status: 400, error: 'expires_at must be a time, as 2027-01-31T00:00:00Z' },
  'expiry-past': { status: 400, error: 'expires_at must be in the future' },
  'expiry-too-far': { status: 400, error: 'expires_at must be at most a year away' },
  'feature-disabled': { status: 403, error: 'feature disabled' },
  'fleet-config-in-use': { status: 409, error: '{count} workloads are under this fleet config' },
  'fleet-config-managed': {
    status: 409,
    error: 'this fleet config is kept in Git by {owner}: change it there',
  },
  'fleet-config-not-found': { status: 404, error: 'fleet config not found' },
  'fleet-config-outranks': {
    status: 403,
    error: 'the fleet config "{name}" outside of your scope has priority {priority}: yours must be lower',
  },
  'fleet-config-taken': { status: 409, error: 'a fleet config with this name already exists' },
  'fleet-config-version-not-found': { status: 404, error: 'version not found' },
  'fleet-configs-too-many': { status: 409, error: 'there are {max} fleet configs at most' },
  'fleet-configs-too-wide': {
    status: 409,
    error:
      'the selectors of all fleet configs together have {max} conditions and globs at most: select by labels',
  },
  forbidden: { status: 403, code: null, error: 'forbidden' },
  'group-in-use': { status: 409, error: '{count} users or service accounts are in this group' },
  'group-name-invalid': {
    status: 400,
    error: 'a group is named with 1 to 63 of a-z, 0-9, dot, dash and underscore',
  },
  'group-not-found': { status: 404, error: 'group not found' },
  'group-of-system': { status: 409, error: 'this group belongs to muster and stays as it is' },
  'group-reserved': { status: 400, error: 'groups that begin with git/ are for requests from Git' },
  'group-role-unknown': { status: 400, error: 'unknown role "{role}": expected one of {known}' },
  'group-taken': { status: 409, error: 'a group with this name already exists' },
  'group-unknown': { status: 400, error: 'unknown group "{group}"' },
  'groups-follow-claims': {
    status: 409,
    error: 'the groups of this user follow the identity provider',
  },
  'groups-too-many': { status: 409, error: 'there are {max} groups already' },
  'holder-inactive': {
    status: 403,
    error: `the holder of this token has not signed in for ${HOLDER_ACTIVE_DAYS} days, or nobody owns the service account`,
  },
  'instance-component-missing': {
    status: 409,
    error: 'instance lacks a component of the config: {instance}',
  },
  'instance-not-found': { status: 404, error: 'instance not found' },
  'instance-remote-config-unsupported': {
    status: 409,
    error: 'instance does not accept remote config or cannot report on it: {instance}',
  },
  'instance-target-cross-workload': {
    status: 409,
    error: 'instance target belongs to a different workload: {instance}',
  },
  'instance-target-not-connected': { status: 409, error: 'instance target is not connected: {instance}' },
  'internal-error': { status: 500, error: 'internal error' },
  'invalid-audit-head': { status: 400, error: 'head must be seq:hash, as in 12:<64 hexadecimal digits>' },
  'invalid-body': { status: 400, error: 'invalid JSON' },
  'invalid-count': { status: 400, error: 'count must be positive' },
  'invalid-credentials': { status: 401, error: 'invalid credentials' },
  'invalid-cursor': { status: 400, error: 'invalid cursor' },
  'invalid-instance-target': { status: 400, error: 'instance_uid is required' },
  'invalid-json-body': { status: 400, error: 'invalid JSON body' },
  'invalid-labels': { status: 400, error: 'labels are required' },
  'invalid-language': { status: 400, error: 'invalid language' },
  'invalid-limit': { status: 400, error: 'invalid limit' },
  'invalid-offset': { status: 400, error: 'invalid offset' },
  'invalid-path': { status: 400, error: 'invalid path' },
  'invalid-percentage': { status: 400, error: 'percentage must be positive' },
  'invalid-query': { status: 400, error: 'invalid query parameter {parameter}: expected {expected}' },
  'invalid-rollback-request': { status: 400, code: 'invalid_request', error: 'invalid request' },
  'invalid-scope': { status: 400, error: 'invalid scope' },
  'invalid-theme': { status: 400, error: 'invalid theme' },
  'invalid-time': { status: 400, error: 'invalid {parameter}' },
  'invalid-time-range': { status: 400, error: 'invalid time range' },
  'known-good-conflict': { status: 409, error: 'known-good precondition failed' },
  'known-good-not-found': { status: 404, error: 'known-good config not found' },
  'label-rule-invalid': { status: 400, error: 'the label rule cannot be taken: {reason}' },
  'label-rule-lowers': {
    status: 409,
    error:
      'changes of {count} workloads, or of newcomers, would need less of an approval: confirm_lowering is needed',
  },
  'label-rule-not-found': { status: 404, error: 'label rule not found' },
  'label-rule-taken': { status: 409, error: 'a label rule with this name already exists' },
  'label-rules-full': { status: 409, error: 'label rules are bounded: {reason}' },
  'label-too-long': { status: 400, error: 'label too long (max {max} chars)' },
  'labels-have-control-characters': { status: 400, error: '{field} has a text with control characters' },
  'labels-have-empty-text': { status: 400, error: '{field} has an empty text' },
  'labels-have-long-text': { status: 400, error: '{field} has a text of more than {max} characters' },
  'labels-have-reserved-prefix': { status: 400, error: '{field} has a key with the prefix {prefix}' },
  'labels-reach-too-many': { status: 409, error: 'the selector means more than {max} workloads' },
  'labels-too-many': { status: 400, error: '{field} has more than {max} entries' },
  'labels-unreadable': {
    status: 409,
    error:
      'workload "{workload}" has labels that cannot be read: set all labels of it anew before others are set beside them',
  },
  'last-administrator': { status: 409, error: 'the last administrator cannot be removed or demoted' },
  'link-brace-open': { status: 400, error: 'link "{name}" has a brace without its other at "{part}"' },
  'link-host-open': {
    status: 400,
    error: 'link "{name}" has "{part}" in its host: placeholders stand in the path, query or fragment only',
  },
  'link-name-invalid': { status: 400, error: 'each link needs a name of 1 to {max} characters on one line' },
  'link-name-taken': { status: 400, error: 'two links have the name "{name}"' },
  'link-not-https': {
    status: 400,
    error: 'link "{name}" needs an https URL without a user, of at most {max} characters',
  },
  'link-placeholder-unknown': {
    status: 400,
    error: 'link "{name}" has the unknown placeholder "{part}": id, name, cluster, environment or label:KEY',
  },
  'link-request-not-found': { status: 404, error: 'link request not found' },
  'links-too-many': { status: 400, error: 'at most {max} links' },
  'login-limited': { status: 429, error: 'too many login attempts' },
  'logout-token-invalid': { status: 400, error: 'invalid logout_token' },
  'managed-elsewhere': { status: 409, error: 'the config of this workload is kept in Git by {owner}' },
  'method-not-allowed': { status: 405, code: null, error: 'method not allowed' },
  'name-and-content-required': { status: 400, error: 'name and content are required' },
  'name-required': { status: 400, error: 'name is required' },
  'name-too-long': { status: 400, error: 'name exceeds {max} characters' },
  'no-owner': { status: 503, error: 'no process of this fleet decides now' },
  'no-password-here': {
    status: 409,
    error: 'this user signs in with the identity provider and has no password here',
  },
  'no-rollback-target': { status: 409, error: 'no rollback target' },
  'not-found': { status: 404, code: null, error: 'not found' },
  'not-managed': { status: 404, error: 'Git does not keep the config of this workload' },
  'nothing-changes': { status: 409, error: 'the draft is the active config already' },
  'origin-refused': { status: 403, error: 'origin not allowed' },
  'out-of-scope': { status: 403, error: 'this lies outside the scope of your groups' },
  'out-of-scope-of-all': {
    status: 403,
    code: 'out_of_scope',
    error:
      'this belongs to the whole fleet: it needs the right everywhere, and your groups give it within a scope',
  },
  'outcome-unknown': {
    status: 503,
    error: 'the process that decides gave no answer: the change may stand all the same',
  },
  'owner-invalid': {
    status: 400,
    error: 'owner must be 1 to 100 letters, digits, dots, dashes, underscores and slashes',
  },
  'owner-taken': {
    status: 409,
    error:
      'another account speaks for the owner {owner}: take its credential or another name, or have a person who may break the glass hand over what it keeps',
  },
  'owner-unknown': { status: 400, error: 'owner_id must be the id of a user' },
  'password-mismatch': { status: 401, error: 'current password does not match' },
  'password-too-long': { status: 400, error: '{field} must be at most {max} characters' },
  'password-too-short': { status: 400, error: '{field} must be at least {min} characters' },
  'password-unchanged': { status: 400, error: 'new_password must differ from current_password' },
  'passwords-required': { status: 400, error: 'current_password and new_password are required' },
  'pdf-unavailable': { status: 501, error: 'pdf export unavailable' },
  'percentage-of-everybody': {
    status: 400,
    code: 'invalid_percentage',
    error: 'percentage must be less than 100',
  },
  'permission-not-held': { status: 400, error: 'the holder does not have "{permission}"' },
  'permission-unknown': { status: 400, error: 'unknown permission "{permission}"' },
  'person-linked': {
    status: 409,
    error: 'this person of the identity provider is a user already; the request is gone',
  },
  'plans-too-many': {
    status: 429,
    error: '{max} campaigns are being planned at one time at most: try again once one of them is planned',
  },
  'plans-too-many-of-one': {
    status: 429,
    error: '{max} of your campaigns are being planned: wait until one of them is',
  },
  'policy-invalid': {
    status: 400,
    error: '{class}: approvals must be 1 or 2, valid_hours a whole number from 1 to {max} or absent',
  },
  'policy-needs-another': {
    status: 409,
    error:
      'this account made or changed the account that asked, or was by it, or since: somebody else must confirm it',
  },
  'priority-invalid': { status: 400, error: 'priority must be a whole number between -{max} and {max}' },
  'production-confirmation-required': { status: 400, error: 'prod approval request requires confirmation' },
  'production-double-confirmation-required': { status: 400, error: 'prod push requires double confirmation' },
  'provider-away': { status: 503, error: 'the identity provider does not answer' },
  'push-group-id-invalid': {
    status: 400,
    error: 'id must be 1 to 63 lower-case letters, digits and inner hyphens',
  },
  'push-group-not-found': { status: 404, error: 'push group not found' },
  'push-group-taken': { status: 409, error: 'a push group with this id already exists' },
  'push-group-text-invalid': { status: 400, error: 'name and description must not have control characters' },
  'push-scope-required': { status: 400, error: 'group_id or selector is required' },
  'reason-invalid': {
    status: 400,
    error: 'reason must be Unicode text of at most {max} characters without null characters',
  },
  'remote-config-unsupported': { status: 409, error: 'workload does not accept remote config' },
  'replace-reason-too-long': { status: 400, error: 'replace_reason too long (max {max} chars)' },
  'report-audit-unavailable': { status: 503, code: 'audit_unavailable', error: 'audit unavailable' },
  'report-build-failed': { status: 500, error: 'failed to build evidence pack' },
  'report-not-kept': { status: 409, error: 'the previewed report is not kept any more' },
  'report-scope-empty': { status: 409, error: 'report scope empty' },
  'report-signing-unavailable': { status: 503, error: 'report signing unavailable' },
  'request-aborted': { status: 400, error: 'the request ended before its body did' },
  'request-body-too-large': { status: 413, error: 'request body too large' },
  'review-done': { status: 409, error: 'somebody has looked at this already' },
  'review-needs-another': { status: 409, error: 'somebody else has to look at this. {hint}' },
  'review-not-found': { status: 404, error: 'review not found' },
  'revision-not-found': { status: 404, error: "config not found in this workload's history" },
  'rollout-ended': { status: 409, error: 'the rollout has ended' },
  'rollout-no-way-back': { status: 409, error: 'there is nothing approved to roll back to' },
  'rollout-not-approved': {
    status: 409,
    error: 'the approvals of this rollout do not all count any more: take it back, or break the glass',
  },
  'rollout-not-found': { status: 404, error: 'canary not found' },
  'rollout-not-halted': { status: 409, error: 'only a halted rollout can be continued' },
  'rollout-on-hold': {
    status: 409,
    error:
      'something holds this rollout, such as a hold of its workload or another fleet config: end that, or break the glass',
  },
  'rollout-stopped': {
    status: 409,
    error:
      'the campaign, or the version that applies by itself, which brought this rollout was stopped: decide there',
  },
  'scope-key-invalid': {
    status: 400,
    error: 'a scope looks at one trusted label: its key begins with {prefix}',
  },
  'scope-role-unfit': {
    status: 400,
    error:
      'the role {role} has rights that are about no workload, or none: only {fit} can be bound to a scope',
  },
  'scope-values-invalid': {
    status: 400,
    error: 'a scope needs 1 to {max} values without blanks around them',
  },
  'seed-admin': {
    status: 409,
    error:
      'the administrator named by SEED_ADMIN_EMAIL or PASSWORD_LOGIN cannot be removed, demoted or linked',
  },
  'selector-empty': { status: 400, error: 'selector has no condition' },
  'selector-globs-too-many': {
    status: 400,
    error: 'selector has more than {max} values with * or ? in it; name a label instead',
  },
  'selector-key-nameless': {
    status: 400,
    error: 'selector has the key "{key}" without a name behind its prefix',
  },
  'selector-key-reported': {
    status: 400,
    error: 'selector has the key "{key}", which agents report; here it needs the prefix {prefixes}',
  },
  'selector-key-unknown': {
    status: 400,
    error: 'selector has the unknown key "{key}"; an identity has {known}',
  },
  'selector-list-too-long': { status: 400, error: 'selector has more than {max} entries in {list}' },
  'selector-reads-reports': {
    status: 400,
    error: 'selector has types, versions or capabilities, which agents report',
  },
  'selector-values-missing': { status: 400, error: 'selector has {operator} without values for "{key}"' },
  'selector-values-too-many': {
    status: 400,
    error:
      'selector has more than {max} values in its expressions; give the workloads a label, and select by that',
  },
  'selector-values-unexpected': { status: 400, error: 'selector has values for {operator} of "{key}"' },
  'server-busy': { status: 503, error: 'server is busy' },
  'service-account-name-invalid': {
    status: 400,
    error: 'name must be lower-case letters, digits, ".", "_" and "-", 63 at most',
  },
  'service-account-not-found': { status: 404, error: 'service account not found' },
  'service-account-taken': { status: 409, error: 'a service account with this name already exists' },
  'session-required': { status: 403, error: 'this needs a person who is signed in, not a token' },
  'shared-views-full': {
    status: 409,
    error: 'users share {max} views already; somebody must remove one first',
  },
  'source-required': { status: 400, error: 'source is required' },
  'source-too-large': { status: 413, error: 'source exceeds 1 MiB limit' },
  'stage-count-invalid': { status: 400, error: 'stages[{index}].count must be a whole number above 0' },
  'stage-dwell-invalid': { status: 400, error: 'stages[{index}].dwell_seconds must be 0 to {max}' },
  'stage-empty': {
    status: 409,
    error: 'no instance of the first stage could take the config and report on it',
  },
  'stage-not-larger': { status: 400, error: 'stages[{index}] must be larger than the stage before it' },
  'stage-percentage-invalid': {
    status: 400,
    error: 'stages[{index}].percentage must be above 0 and at most 100',
  },
  'stage-size-ambiguous': { status: 400, error: 'stages[{index}] needs either count or percentage' },
  'stages-required': { status: 400, error: 'stages must name at least one stage' },
  'stages-too-many': { status: 400, error: 'stages must name at most {max} stages' },
  'target-content-unavailable': { status: 410, error: 'config content is not available' },
  'target-not-applied': { status: 409, error: 'this config was never applied on this workload' },
  'target-not-approved': {
    status: 409,
    error: 'nobody ever approved this config here: it was pushed by breaking the glass',
  },
  'target-not-found': { status: 404, error: "config not found in this workload's history" },
  'target-yaml-invalid': { status: 400, error: 'configuration failed validation' },
  'target-yaml-required': { status: 400, error: 'target_yaml is required' },
  'template-text-invalid': { status: 400, error: 'the text has characters that cannot be stored' },
  'templates-too-large': {
    status: 409,
    error: 'the templates that you made are together larger than {max} MiB',
  },
  'text-not-storable': { status: 400, error: '{field} must be Unicode text without null characters' },
  'text-too-long': { status: 400, error: '{field} must be at most {max} characters, found {found}' },
  'token-limited': { status: 429, error: 'too many unknown tokens' },
  'token-name-invalid': { status: 400, error: 'name must be 1 to {max} characters' },
  'token-not-found': { status: 404, error: 'token not found' },
  'too-many-actions': { status: 400, error: 'too many actions' },
  'too-many-service-accounts': { status: 409, error: 'there are 1000 service accounts; remove one first' },
  'too-many-tokens': { status: 409, error: 'the holder has 100 tokens; revoke one first' },
  unauthorized: { status: 401, code: null, error: 'unauthorized' },
  'unsupported-change-filter': { status: 400, error: 'unsupported {parameter}; use one of {wanted}' },
  'unsupported-export-format': { status: 400, error: 'unsupported export format' },
  'unsupported-redaction-mode': { status: 400, error: 'unsupported redaction mode' },
  'unsupported-report-type': { status: 400, error: 'unsupported report_type' },
  'unsupported-schema-version': { status: 400, error: 'unsupported schema_version' },
  'unsupported-selection-strategy': { status: 400, error: 'unsupported selection strategy' },
  'unsupported-status': { status: 400, error: 'unsupported status; use some of {statuses}' },
  'unsupported-vendor': { status: 400, error: 'unsupported vendor' },
  'unsupported-window': { status: 400, error: 'unsupported window; use one of {windows}' },
  'until-invalid': { status: 400, error: 'until must be a time in the future, at most a year away' },
  'user-not-found': { status: 404, error: 'user not found' },
  'validation-failed': { status: 400, error: 'configuration failed validation' },
  'variables-invalid': { status: 400, error: '{reason}' },
  'variables-too-many': { status: 400, error: 'there are more than {max} variables' },
  'vendor-required': { status: 400, error: 'vendor is required' },
  'version-comment-invalid': {
    status: 400,
    error: 'comment must be Unicode text of at most {max} characters',
  },
  'version-invalid': { status: 400, error: 'version must be a semantic version such as 0.149.0, or empty' },
  'version-not-rendered': { status: 409, error: '{reason}' },
  'version-text-invalid': { status: 400, error: '{reason}' },
  'version-variables-invalid': { status: 400, error: '{reason}' },
  'versions-too-large': {
    status: 409,
    error: 'the versions that you made within {days} days are together larger than {max} MiB',
  },
  'view-invalid': {
    status: 400,
    error: 'name must be 1 to {name_max} characters on one line, query at most {query_max}',
  },
  'view-not-found': { status: 404, error: 'view not found' },
  'views-full': { status: 409, error: 'you have {max} views; remove one first' },
  'workload-archived': { status: 409, error: 'workload is archived' },
  'workload-frozen': { status: 409, error: 'the config of this workload is frozen: {reason}' },
  'workload-ids-invalid': { status: 400, error: 'workload_ids must name 1 to {max} workloads' },
  'workload-not-collector': { status: 409, error: 'workload is not a collector' },
  'workload-not-connected': { status: 409, error: 'workload is not connected' },
  'workload-not-disconnected': { status: 409, error: 'only disconnected workloads can be archived' },
  'workload-not-found': { status: 404, error: 'workload not found' },
} as const satisfies Record<string, Problem>

/** A refusal or expected failure by its key in the table. */
export type ProblemCode = keyof typeof PROBLEMS

type Underscored<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}_${Underscored<Rest>}`
  : Text

/** Every code as clients know it, those included that a body leaves out because its status says it. */
export type WireCode = {
  [Key in ProblemCode]: (typeof PROBLEMS)[Key] extends { code: infer Code extends string }
    ? Code
    : Underscored<Key>
}[ProblemCode]

/** The code of a problem on the wire; null for one whose body has no room for a code. */
export function wireCodeOf(code: ProblemCode): string | null {
  const entry: Problem = PROBLEMS[code]
  return entry.code === undefined ? code.replaceAll('-', '_') : entry.code
}

/** The sentence of a problem with its details in their places, quotes and control characters escaped as in JSON. */
export function sentenceOf(code: ProblemCode, details: Readonly<Record<string, unknown>>): string {
  return PROBLEMS[code].error.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(details, name) ? JSON.stringify(String(details[name])).slice(1, -1) : place,
  )
}
