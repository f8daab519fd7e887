// The closed sets of words that bodies use. They are apart from the schemas, so that the browser can load them without
// superstruct.

/**
 * The header that says of a list, or of a page of it, how many rows up to its end lie outside of the reader's scope; of
 * what is counted over workloads, how many of these do.
 */
export const OUTSIDE_HEADER = 'Muster-Outside-Scope'

/** Alerts of one workload. */
export const WORKLOAD_ALERT_RULES = [
  'workload_down',
  'workload_unhealthy',
  'push_failed',
  'rollout_halted',
  'config_drift',
  'version_outdated',
] as const

/** Alerts of a campaign, of a fleet config or of people. */
export const TOPIC_ALERT_RULES = [
  'campaign_halted',
  'campaign_failures',
  'auto_apply_held',
  'config_conflict',
  'administrator_kept',
  'approval_policy_lowered',
  'approval_policy_unreadable',
  'last_resort_login',
] as const

/** All alert rules. */
export const ALERT_RULES = [...WORKLOAD_ALERT_RULES, ...TOPIC_ALERT_RULES] as const

/** What can be done about an alert, beside looking at it. */
export const ALERT_STEPS = ['push', 'roll_back'] as const

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'pushed',
  'rejected',
  'withdrawn',
  'retired',
] as const

/** The troubles of a workload, the worst first. */
export const WORKLOAD_TROUBLES = [
  'disconnected',
  'unhealthy',
  'push_failed',
  'rollout_halted',
  'rolled_back',
  'some_failed',
  'some_unhealthy',
  'drifted',
  'altered',
  'degraded',
  'leaving',
  'outdated',
] as const

/** The kinds of steps in the history of a request. */
export const APPROVAL_STEPS = [
  'requested',
  'commented',
  'approved',
  'rejected',
  'withdrawn',
  'retired',
  'pushed',
  'break_glass_pushed',
] as const

/** What takes the place of a request that is retired: a newer one, or what another decision brought to its workload. */
export const RETIRED_BY = ['request', 'campaign', 'campaign_roll_back', 'auto_apply', 'rollback'] as const

/** The classes of workloads that an approval policy tells apart. */
export const APPROVAL_CLASSES = ['production', 'other', 'unlabelled'] as const

/** Why an approval, or a look at what was done without one, adds nothing. */
export const DISCOUNTS = [
  'approved_already',
  'author',
  'expired',
  'no_right',
  'overtaken',
  'same_person',
  'shaped_an_author',
  'shaped_by_author',
  'shaped_since_request',
  'value_author',
] as const
/** One of `DISCOUNTS`. */
export type Discount = (typeof DISCOUNTS)[number]

/** Why a rule of the approval policy holds for a change of many workloads. */
export const RULE_REASONS = [
  'production',
  'may_reach_production',
  'kept_production',
  'unlabelled',
  'other',
  'given_before',
] as const

/** Why a token cannot be used now. */
export const TOKEN_IDLES = ['expired', 'holder_inactive', 'ownerless'] as const
/** Why a right that was given has no effect. */
export const WITHHELD_REASONS = ['needs_person', 'not_held'] as const

/** The events of changes that the webhook is told of. */
export const CHANGE_EVENTS = [
  'change_requested',
  'change_approved',
  'change_rejected',
  'glass_broken',
] as const

/** The kinds of acts that a second person has to review. */
export const REVIEW_KINDS = [
  'break_glass',
  'rollback',
  'known_good',
  'labels',
  'label_rule',
  'campaign_rollback',
] as const

export const DRIFT_STATUSES = [
  'remote_config_unsupported',
  'missing_effective_config',
  'heterogeneous_effective_config',
  'drifted',
  'altered',
  'differs_from_git',
  'pending_too_long',
  'in_sync',
] as const

export const WORKLOAD_EVENT_TYPES = [
  'connected',
  'disconnected',
  'version_changed',
  'config_altered',
  'config_restored',
] as const

/** How many workloads one question for their activity may name. */
export const ACTIVITY_WORKLOADS_MAX = 100
export const EVENT_STATS_WINDOWS = ['1h', '6h', '24h', '7d'] as const

export const THEMES = ['light', 'dark', 'system'] as const

export const LANGUAGES = ['en', 'fr'] as const

export const MIGRATION_VENDORS = [
  'datadog_agent',
  'fluent_bit',
  'splunk_forwarder',
  'new_relic_infra',
] as const

/** The sections of a report. */
export const REPORT_INCLUDES = [
  'workload_summary',
  'config_history',
  'current_config',
  'config_plan',
  'campaigns',
  'drift_findings',
  'version_intelligence',
  'alerts',
  'workload_events',
  'rollback_readiness',
  'audit_verification',
] as const

export const REPORT_FORMATS = ['markdown', 'csv', 'pdf'] as const

/** The statuses of a revision; it never goes back to an earlier one. */
export const REVISION_STATUSES = ['pending', 'applied', 'failed'] as const

/** The finer state of a push, for display. */
export const REVISION_PHASES = [
  'submitted',
  'sent',
  'applying',
  'applied',
  'failed',
  'superseded',
  'no_status',
  'aborted',
] as const

/**
 * What becomes of a push: `in_part` where some targets run its config, and others failed it or do not answer; `aborted`
 * where its stages were given up, and those that have it keep it.
 */
export const PUSH_OUTCOMES = ['under_way', 'applied', 'in_part', 'failed', 'overtaken', 'aborted'] as const

/** What followed a push that failed. */
export const PUSH_AFTERMATHS = [
  'went_back',
  'went_back_in_part',
  'going_back',
  'rollback_failed',
  'nowhere_to_go',
  'overtaken',
] as const

/** The states of one instance in a push. */
export const PUSH_INSTANCE_STATES = ['waiting', 'sent', 'applying', 'applied', 'failed', 'no_status'] as const

export const ROLLOUT_STATUSES = [
  'running',
  'halted',
  'succeeded',
  'promoted',
  'aborted',
  'rollback_started',
  'stopped',
  'failed',
] as const

export const CANARY_STRATEGIES = ['one', 'count', 'n', 'percentage', 'label_selector', 'instances'] as const

/** The five sections of a config that define components, in the order in which they are reported. */
export const CATEGORIES = ['receivers', 'processors', 'exporters', 'connectors', 'extensions'] as const

/** The lists of a pipeline, in the order in which data passes them. */
export const PIPELINE_SECTIONS = ['receivers', 'processors', 'exporters'] as const

export const ROLLOUT_GATES = ['no_failure', 'health', 'drift'] as const

/** Whether a collector can run its config, `unassigned` where it has none. */
export const VERSION_VERDICTS = ['can', 'cannot', 'unknown', 'unassigned'] as const

/** What keeps a rollout from its next stage. */
export const ROLLOUT_HOLD_REASONS = [
  'archived',
  'base_moved',
  'became_production',
  'frozen',
  'held',
  'kept_in_git',
  'not_approved',
  'not_selected',
  'not_under_fleet_config',
  'stopped',
  'under_fleet_config',
] as const

/** How muster shows its secret to the identity provider. */
export const CLIENT_AUTHS = ['basic', 'post', 'none'] as const

export const LISTENER_NAMES = ['api', 'opamp', 'metrics'] as const

export const HETEROGENEITY_FLAGS = [
  'mixed_versions',
  'mixed_effective_config_hashes',
  'unhealthy_instances',
  'mixed_remote_config_statuses',
  'applying_remote_config',
  'failed_remote_config',
] as const

export const REMOTE_CONFIG_COUNTERS = [
  'capable',
  'no_status',
  'sent',
  'applying',
  'applied',
  'failed',
] as const

export const VALIDATION_CHECK_IDS = [
  'yaml_static',
  'collector_structure',
  'component_availability',
  'collector_version_compatibility',
  'otelcol_runtime',
] as const

export const WORKLOAD_STATUSES = ['connected', 'degraded', 'disconnected'] as const

export const REMOTE_CONFIG_STATES = ['applying', 'applied', 'failed'] as const

/** The operators of selectors, as in Kubernetes. */
export const SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const

/** Why a sign-in with the identity provider did not end in a session. */
export const SIGN_IN_REFUSALS = [
  'provider_away',
  'provider_refused',
  'sign_in_cancelled',
  'sign_in_lost',
  'groups_overage',
  'no_group',
  'link_requested',
  'name_taken',
  'audit_unavailable',
  'login_limited',
] as const

/** What the feed of changes tells of. */
export const CHANGE_KINDS = [
  'push',
  'rollout',
  'rollback',
  'auto_rollback',
  'request',
  'campaign',
  'auto_apply',
] as const

/** What becomes of a change. */
export const CHANGE_OUTCOMES = ['open', 'succeeded', 'in_part', 'failed', 'halted', 'ended'] as const

export const CAMPAIGN_STATUSES = [
  'draft',
  'planned',
  'requested',
  'approved',
  'running',
  'paused',
  'halted',
  'done',
  'aborted',
  'rolling_back',
  'rolled_back',
  'rejected',
  'withdrawn',
  'expired',
] as const

/** The verdicts of a campaign plan on a workload. */
export const CAMPAIGN_VERDICTS = [
  'changes',
  'same',
  'offline',
  'unmanaged',
  'held',
  'quarantined',
  'excluded',
  'refused',
] as const

/** The states of a target of a campaign. */
export const CAMPAIGN_TARGET_STATES = [
  'left_out',
  'waiting',
  'offline',
  'started',
  'applied',
  'failed',
  'no_answer',
  'overtaken',
  'skipped',
  'expired',
  'cancelled',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
  'moved_on',
  'left_scope',
  'no_way_back',
] as const

/** What halts a campaign by itself. */
export const CAMPAIGN_GATES = [
  'failed',
  'unhealthy',
  'drifted',
  'silent',
  'policy_changed',
  'approver_gone',
] as const

/** Why a workload is refused by a plan, or skipped when its turn comes. */
export const CAMPAIGN_REASONS = [
  'approved_for_less',
  'archived',
  'base_content_gone',
  'base_moved',
  'base_not_approved',
  'became_production',
  'busy',
  'component_missing',
  'frozen',
  'held',
  'invalid',
  'kept_in_git',
  'nobody_reports',
  'not_selected',
  'not_under_fleet_config',
  'overtaken',
  'patch_base_invalid',
  'patch_does_not_fit',
  'patch_mismatch',
  'policy_blocked',
  'quarantined',
  'read_only',
  'result_changed',
  'under_fleet_config',
  'unreadable',
  'variable_invalid',
  'variable_missing',
  'variables_changed',
  'version_gone',
  'workload_gone',
] as const

/** What plans do with a workload that a patch does not fit: leave it out, or let nobody ask for the campaign. */
export const WHERE_UNFIT = ['skip', 'refuse'] as const

export const AUTO_APPLY_STATUSES = [
  'requested',
  'active',
  'paused',
  'held',
  'ended',
  'rejected',
  'withdrawn',
  'expired',
] as const

/** The states of a workload that a version of a fleet config was pushed to by itself. */
export const AUTO_APPLY_TARGET_STATES = [
  'started',
  'applied',
  'failed',
  'no_answer',
  'overtaken',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
  'moved_on',
  'left_scope',
  'no_way_back',
] as const

/** What stops a version from applying by itself. */
export const AUTO_APPLY_GATES = [
  'failed_in_a_row',
  'failed_in_an_hour',
  'policy_changed',
  'approver_gone',
] as const

export const AUTO_APPLY_END_CAUSES = [
  'turned_off',
  'replaced',
  'rolled_back',
  'config_removed',
  'not_continued',
] as const

/** Why a version that applies by itself leaves a workload alone that is under its fleet config. */
export const AUTO_APPLY_REASONS = [
  ...CAMPAIGN_REASONS,
  'campaign_aborted',
  'campaign_excluded',
  'campaign_failed',
  'campaign_open',
  'campaign_refused',
  'campaign_rolled_back',
  'campaign_waits',
  'moved_on',
  'newer_version',
  'not_newcomer',
  'offline',
  'other_config',
  'pushed_before',
] as const

/** The types of variables. */
export const VARIABLE_KINDS = ['string', 'integer', 'number', 'boolean', 'duration'] as const

/** The longest name of a saved view of the fleet, and the longest query, in UTF-16 units. */
export const VIEW_NAME_LENGTH_MAX = 60
export const VIEW_QUERY_LENGTH_MAX = 1_000

/** How many links to other programs workloads have at most, and the longest name and URL of one, in UTF-16 units. */
export const WORKLOAD_LINKS_MAX = 10
export const LINK_NAME_LENGTH_MAX = 40
export const LINK_URL_LENGTH_MAX = 1_000

/** What a revision says of instances that say nothing for that long; pages say it in their language. */
export const STATUS_TIMEOUT_TEXT = 'No OpAMP status after 30s'
