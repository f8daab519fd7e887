import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  string,
  type,
} from 'superstruct'
import { ApprovalHelp, ApprovalRuleInForce, ApprovalTally } from './approvals.ts'
import { DiffWord } from './diff.ts'
import { GroupScope } from './identity.ts'
import { InstanceFault } from './instances.ts'
import { ComparedWith, RiskLevel } from './plan.ts'
import { ErrorParameters, PushAftermath } from './revisions.ts'
import { StageHold } from './rollouts.ts'
import { Selector, SelectorExpression } from './selectors.ts'
import { anyOf, anything, dictionary, listOf, named, note, type Sent, texts } from './structs.ts'
import {
  CAMPAIGN_GATES,
  CAMPAIGN_REASONS,
  CAMPAIGN_STATUSES,
  CAMPAIGN_TARGET_STATES,
  CAMPAIGN_VERDICTS,
  CATEGORIES,
  PIPELINE_SECTIONS,
  WHERE_UNFIT,
} from './values.ts'
import { WorkloadTrouble } from './workloads.ts'

export const CampaignStatus = named('CampaignStatus', '', enums(CAMPAIGN_STATUSES))
export type CampaignStatus = Infer<typeof CampaignStatus>

export const CampaignVerdict = named(
  'CampaignVerdict',
  'What the plan says of a workload; only `changes` and `offline` are ever pushed to, all others are left out. `held` is reserved, with the reason `held` or `frozen`; `refused` cannot take the change, with the reason why.',
  enums(CAMPAIGN_VERDICTS),
)
export type CampaignVerdict = Infer<typeof CampaignVerdict>

export const CampaignTargetState = named('CampaignTargetState', '', enums(CAMPAIGN_TARGET_STATES))
export type CampaignTargetState = Infer<typeof CampaignTargetState>

export const CampaignReason = named(
  'CampaignReason',
  'Why a workload is refused or held by a plan, or was skipped when its turn came.',
  enums(CAMPAIGN_REASONS),
)
export type CampaignReason = Infer<typeof CampaignReason>

export const CampaignGate = named('CampaignGate', 'What halted it.', enums(CAMPAIGN_GATES))
export type CampaignGate = Infer<typeof CampaignGate>

export const CampaignPatch = named(
  'CampaignPatch',
  'A change of configs that differ otherwise; its parts are done in this order. A path names key after key.',
  object({
    expect: note(
      'What a config must say for the patch to fit it.',
      optional(
        listOf(1_000, object({ path: texts(100), exists: optional(boolean()), value: optional(anything()) })),
      ),
    ),
    rename_component: optional(
      listOf(
        1_000,
        object({
          category: enums(CATEGORIES),
          from: string(),
          to: string(),
        }),
      ),
    ),
    remove: optional(listOf(1_000, texts(100))),
    merge: note(
      'Mappings merge, lists and single values replace; null is a value.',
      optional(dictionary(anything(), 1_000)),
    ),
    pipeline: note(
      'A component put into pipelines (globs), or taken out of them: exactly one of `add` and `remove`.',
      optional(
        listOf(
          1_000,
          object({
            pipelines: texts(1_000),
            role: enums(PIPELINE_SECTIONS),
            add: optional(string()),
            remove: optional(string()),
            before: optional(string()),
            after: optional(string()),
          }),
        ),
      ),
    ),
  }),
)
export type CampaignPatch = Infer<typeof CampaignPatch>

export const CampaignChange = named(
  'CampaignChange',
  'What is carried to the workloads: one whole config for all of them, a patch of the config that each has, or a version of the fleet config that they are under.',
  anyOf([
    object({
      kind: literal('text'),
      yaml: note('The config itself. Shown with `config:read_content` only.', optional(string())),
      hash: optional(string()),
      takeover: note(
        'Whether workloads that muster never pushed to are changed as well; there is no way back for them.',
        optional(boolean()),
      ),
    }),
    object({
      kind: literal('patch'),
      patch: note('Shown with `config:read_content` only.', optional(CampaignPatch)),
      where_unfit: note(
        'Where the patch does not fit a workload: `skip` leaves it out, by name; with `refuse` nobody can ask for the campaign. Absent means `skip`.',
        optional(enums(WHERE_UNFIT)),
      ),
      hash: optional(string()),
    }),
    object({
      kind: literal('version'),
      fleet_config_id: string(),
      number: number(),
      hash: note("Of the version's text, before its variables have values.", optional(string())),
      takeover: note(
        'Whether workloads that muster never pushed to are changed as well; there is no way back for them.',
        optional(boolean()),
      ),
    }),
  ]),
)
export type CampaignChange = Infer<typeof CampaignChange>

export const CampaignScope = named(
  'CampaignScope',
  'Which workloads are meant: those of the selector and those that are named, without the excluded ones. Of a version all that are under its fleet config where neither is said.',
  object({
    selector: optional(Selector),
    workload_ids: optional(texts(25_000)),
    exclude_selector: optional(Selector),
    exclude_ids: optional(texts(25_000)),
    exclude_names: note(
      'Names as the fleet shows them, of hosts, or of Kubernetes objects, with globs (`*`, `?`).',
      optional(texts(2_000)),
    ),
    cut_to: note(
      'Set by the server where whoever made it may push within scopes only: of those that are meant, the ones within any of these. What is sent here does not count.',
      optional(listOf(1_000, GroupScope)),
    ),
  }),
)
export type CampaignScope = Infer<typeof CampaignScope>

export const CampaignMatchRequest = named(
  'CampaignMatchRequest',
  'Body of `POST /api/campaigns/match`.',
  object({
    scope: CampaignScope,
    fleet_config_id: note(
      'Of a campaign that carries a version: without selector and ids all that are under this fleet config are meant.',
      optional(string()),
    ),
  }),
)
export type CampaignMatchRequest = Sent<typeof CampaignMatchRequest>

export const CampaignMatch = named(
  'CampaignMatch',
  'Which workloads a scope means now. What a campaign would do with them says its plan.',
  type({
    selected_count: number(),
    excluded_count: note('Meant, and left out by name, id or selector.', number()),
    outside_scope_count: note(
      'Meant otherwise, and outside of the scope of whoever asks; absent where that does not end.',
      optional(number()),
    ),
    production_count: note('Of the selected ones.', number()),
    disconnected_count: note('Of the selected ones.', number()),
    names: note('The first of the selected ones by name, at most 10; hosts by theirs.', array(string())),
    unmatched: note(
      'Ids that are no workload, and ids and names that leave nobody out, at most 20.',
      array(string()),
    ),
    unmet: note(
      'Where nobody meets the selector: its conditions that no workload meets, a label as `In`, at most 20. Empty where each is met by some workload, and all of them by none.',
      optional(array(SelectorExpression)),
    ),
  }),
)
export type CampaignMatch = Infer<typeof CampaignMatch>

export const CampaignWave = named(
  'CampaignWave',
  'One wave: so many workloads, or so many of a hundred, or those of a selector. The last wave takes the rest.',
  object({
    count: optional(number()),
    percentage: optional(number()),
    selector: optional(Selector),
    dwell_seconds: note(
      'How long it is watched before the next wave starts; not at all where it is absent.',
      optional(number()),
    ),
  }),
)
export type CampaignWave = Infer<typeof CampaignWave>

export const CampaignLimits = named(
  'CampaignLimits',
  'What halts a campaign: more than this many workloads. Absent ones follow from its size: none in the first wave, then the greater of 3 and 1 %; for silent ones 5 %.',
  object({
    failed: optional(number()),
    unhealthy: optional(number()),
    drifted: note(
      'Applied it, and have run something else for half a minute, which they did not before.',
      optional(number()),
    ),
    silent: note('Skipped, or without an answer.', optional(number())),
  }),
)
export type CampaignLimits = Infer<typeof CampaignLimits>

export const CampaignWindow = named(
  'CampaignWindow',
  'When workloads may be started: on these days, from one time to another, UTC.',
  object({
    days: note('0 is Sunday; absent means every day.', optional(listOf(100, number()))),
    from: note('`HH:MM`.', string()),
    to: note('`HH:MM`; earlier than `from` means the next day.', string()),
  }),
)
export type CampaignWindow = Infer<typeof CampaignWindow>

/** The rules of a campaign, as bodies ask for them. */
export const CAMPAIGN_RULES = {
  waves: optional(listOf(100, CampaignWave)),
  limits: optional(CampaignLimits),
  max_in_flight: note('Instances that are changed at one time.', optional(number())),
  catch_up_seconds: note('How long workloads that are away are waited for.', optional(number())),
  windows: optional(listOf(100, CampaignWindow)),
  retry_quarantined: note('Push a config again where it has failed before.', optional(boolean())),
}

export const CampaignCreateRequest = named(
  'CampaignCreateRequest',
  'Body of `POST /api/campaigns` and `PUT /api/campaigns/{id}`.',
  object({
    name: defaulted(string(), ''),
    description: defaulted(string(), ''),
    change: CampaignChange,
    scope: CampaignScope,
    ...CAMPAIGN_RULES,
  }),
)
export type CampaignCreateRequest = Sent<typeof CampaignCreateRequest>

export const CampaignDecisionRequest = named(
  'CampaignDecisionRequest',
  'Body of the decisions about a campaign. `plan_hash` names the plan that was looked at: request and approve need it.',
  type({
    comment: defaulted(string(), ''),
    plan_hash: defaulted(string(), ''),
    prod_confirmation: defaulted(boolean(), false),
  }),
)
export type CampaignDecisionRequest = Sent<typeof CampaignDecisionRequest>

export const CampaignContinueRequest = named(
  'CampaignContinueRequest',
  'Body of `POST …/continue`; a raised limit needs a comment, and one that is lower than what was asked for or raised before is refused.',
  object({ comment: defaulted(string(), ''), limits: optional(CampaignLimits) }),
)
export type CampaignContinueRequest = Sent<typeof CampaignContinueRequest>

export const ValueChoice = named(
  'ValueChoice',
  'What chose a value: the workload has it of its own, a label chose the row of the table (`label_value`), or it is the value of a label.',
  type({
    kind: enums(['own', 'table', 'label']),
    label: optional(string()),
    label_value: optional(string()),
  }),
)
export type ValueChoice = Infer<typeof ValueChoice>

export const CampaignVariable = named(
  'CampaignVariable',
  'One value of a variable, for how many workloads, and what chose it there.',
  type({
    value: string(),
    count: number(),
    chosen_by: note('Five at most; empty in plans of older versions.', array(ValueChoice)),
    more_choices: note('How many more there are; absent for none.', optional(number())),
  }),
)
export type CampaignVariable = Infer<typeof CampaignVariable>

const CampaignRisk = named(
  'CampaignRisk',
  'Something that makes a change risky: the rule that found it, and its title.',
  type({ rule: string(), title: string(), risk: RiskLevel }),
)

export const CampaignGroup = named(
  'CampaignGroup',
  'Workloads whose configs change in the same way.',
  type({
    key: string(),
    count: number(),
    instance_count: number(),
    production_count: number(),
    sample_workload_id: string(),
    sample_workload_name: string(),
    sample_workload_place: optional(string()),
    diff: note('Unified; the first lines where it is long.', string()),
    diff_lines_left: note('Lines of the diff that come after these; `GET …/diff` has them.', number()),
    diff_missing: note(
      'Whether there is no diff: the text is not kept any more, or comparing it takes too long.',
      boolean(),
    ),
    compared_with: note(
      'What the diff and the risk compare with: the config that muster pushed and that is active, else what the instances reported to run when the plan was made. With nothing, what is lost is not shown. Absent where there is no diff.',
      optional(ComparedWith),
    ),
    risk: note(
      'How risky the change is, by the diff of the sample; absent where the configs cannot be compared.',
      optional(RiskLevel),
    ),
    risks: note('What makes it so, as in the plan of a single request.', array(CampaignRisk)),
    does: note(
      'What the change does to the sample, what a reviewer looks for first; 40 at most. Absent where the configs cannot be compared.',
      optional(array(DiffWord)),
    ),
    variables: note(
      'Each variable with its values, the rarest first; 50 of each at most.',
      dictionary(array(CampaignVariable)),
    ),
    more_values: note(
      'By variable: how many more values there are; `GET …/values` lists all.',
      dictionary(number()),
    ),
    other_matches: note(
      'Places of the sample, as paths, that name a renamed component too and are left as they are; 50 at most.',
      optional(array(string())),
    ),
  }),
)
export type CampaignGroup = Infer<typeof CampaignGroup>

export const CampaignDiffPage = named(
  'CampaignDiffPage',
  'Some lines of the diff of a group, from the line that was asked for.',
  type({ diff: string(), lines_left: note('Lines that come after these.', number()) }),
)
export type CampaignDiffPage = Infer<typeof CampaignDiffPage>

export const CampaignPlan = named(
  'CampaignPlan',
  'What a campaign would do, as of the moment of its plan. All that it means is counted, also what lies outside of the scope of whoever reads this: the list of workloads, which anybody who is signed in reads, tells no less.',
  type({
    planned_at: string(),
    verdicts: note('All that it means, by verdict.', dictionary(number())),
    refused: note(
      'Why workloads are `refused` or `held`, by reason; of the latter, `held` by an operator or by a push of its own, and `frozen`.',
      dictionary(number()),
    ),
    left_out: note(
      'All that are not changed, by why, each once: the verdict, or the reason of those that are refused or held.',
      optional(dictionary(number())),
    ),
    target_count: note('Workloads that change, those that are away included.', number()),
    instance_count: note('Instances that restart with another config.', number()),
    production_count: number(),
    unlabelled_count: note(
      'Workloads that change and whose environment no trusted label names. Absent in plans of older versions.',
      optional(number()),
    ),
    no_way_back_count: note('Workloads without an earlier config to go back to.', number()),
    environments: array(string()),
    clusters: array(string()),
    group_count: number(),
    components_unknown_count: note(
      'Workloads that change and do not say what they were built with: whether they know every component is not checked. Absent in plans of older versions.',
      optional(number()),
    ),
    missing_components: note(
      'What workloads are refused for with `component_missing`: each component as `processors.batch`, with how many lack it, the most frequent first, 50 at most. Only for whoever may read configs; absent in plans of older versions.',
      optional(array(type({ component: string(), count: number() }))),
    ),
    outside_scope_count: note(
      'Workloads that are meant and lie outside of what the campaign is cut to; absent where it is not cut.',
      optional(number()),
    ),
    waves: array(
      type({
        target_count: number(),
        instance_count: number(),
        production_count: number(),
        dwell_seconds: number(),
      }),
    ),
  }),
)
export type CampaignPlan = Infer<typeof CampaignPlan>

export const CampaignHalt = named(
  'CampaignHalt',
  'Why it stopped by itself: the gate, what was found, and what was allowed. Of one campaign that is read by itself while it is halted, it is counted now where more have failed or are silent since.',
  type({
    gate: CampaignGate,
    value: number(),
    limit: number(),
    wave: number(),
    workload_ids: note('Some of those that it is about.', array(string())),
    workloads: note(
      'The same, by name; absent in halts of older versions.',
      optional(
        array(type({ workload_id: string(), workload_name: string(), workload_place: optional(string()) })),
      ),
    ),
    approvers: note(
      'Of `approver_gone`: who approved it and may not any more, by e-mail; absent in halts of older versions.',
      optional(array(string())),
    ),
    holds: note(
      'Whether it would halt again at once if it were continued as it is: the approval still does not hold, or the limit is still passed. Only of one campaign that is read by itself, while it is halted; of unhealthy and drifted workloads only a new look tells.',
      optional(boolean()),
    ),
    passed: note(
      'With `holds`: each limit that is passed now. Only with all of them at `value` or higher does it go on.',
      optional(array(type({ gate: CampaignGate, value: number(), limit: number() }))),
    ),
    cause: note('What most of them failed of, in the words of push errors.', optional(string())),
    title: optional(string()),
  }),
)
export type CampaignHalt = Infer<typeof CampaignHalt>

export const CampaignApproval = named(
  'CampaignApproval',
  'Somebody approved the plan.',
  type({ by: string(), at: string(), comment: string() }),
)
export type CampaignApproval = Infer<typeof CampaignApproval>

export const CampaignComment = named(
  'CampaignComment',
  'What somebody said about a campaign.',
  type({
    by: string(),
    by_token: note('An API token said it in that name.', optional(boolean())),
    at: string(),
    comment: string(),
  }),
)
export type CampaignComment = Infer<typeof CampaignComment>

export const CampaignCommentRequest = named(
  'CampaignCommentRequest',
  'Body of `POST /api/campaigns/{id}/comments`.',
  type({ comment: string() }),
)
export type CampaignCommentRequest = Sent<typeof CampaignCommentRequest>

export const KeptByItself = named(
  'KeptByItself',
  "Workloads outside of a campaign that got its version by itself and are to run it still. The campaign's roll-back gives them, too, the config that they had before; one that had none keeps the version, and is named here.",
  type({
    count: number(),
    without_base: note('How many of them have no config to go back to.', number()),
    in_cut: note(
      'Of a campaign that is cut to scopes: how many of them lie there. Only these are rolled back; absent for any other.',
      optional(type({ count: number(), without_base: number() })),
    ),
    workloads: note(
      'The first 50 by id, of those that the reader may see.',
      array(
        type({
          workload_id: string(),
          workload_name: string(),
          workload_place: optional(string()),
          is_newcomer: boolean(),
          has_base: note('False where muster knows no config that it could go back to.', boolean()),
          state: note('What came of taking it back, once that was begun.', optional(CampaignTargetState)),
          cause: note('Why it could not be taken back.', optional(string())),
        }),
      ),
    ),
  }),
)
export type KeptByItself = Infer<typeof KeptByItself>

const NAMED_WORKLOAD = {
  workload_id: string(),
  workload_name: string(),
  workload_place: optional(string()),
}

const BecameUnhealthy = named(
  'BecameUnhealthy',
  'Workloads that were well before they applied the change and are not now, as the limit `unhealthy` counts them.',
  type({
    count: number(),
    limit: note('How many may in the wave that it is in: with one more it halts.', number()),
    workloads: note(
      'The first three, each with what is the matter.',
      array(type({ ...NAMED_WORKLOAD, unhealthy_since: optional(WorkloadTrouble) })),
    ),
  }),
)
export type BecameUnhealthy = Infer<typeof BecameUnhealthy>

const UnwellNow = named(
  'UnwellNow',
  'Workloads that a campaign is to change and that are not well now, those that are away left out.',
  type({
    count: number(),
    workloads: note(
      'The first three, each with what is the matter.',
      array(type({ ...NAMED_WORKLOAD, trouble: WorkloadTrouble })),
    ),
  }),
)
export type UnwellNow = Infer<typeof UnwellNow>

export const CampaignRecord = named(
  'CampaignRecord',
  'One change that is carried to many workloads.',
  type({
    id: string(),
    name: string(),
    description: string(),
    status: CampaignStatus,
    unreadable: note(
      'Fields that are stored in a shape that this version does not know, and that stand here empty or are absent; absent where all can be read.',
      optional(array(string())),
    ),
    change: note('In lists without its text or patch.', CampaignChange),
    scope: note('In lists without the ids of workloads.', CampaignScope),
    named_count: note(
      'In lists: how many workloads it names; absent where it names none.',
      optional(number()),
    ),
    outside_scope_count: note(
      'How many of the workloads that it names lie outside of the scope of whoever reads this; absent for none.',
      optional(number()),
    ),
    waves: array(CampaignWave),
    limits: note('As they were asked for, and approved with the plan.', CampaignLimits),
    raised: note(
      'Limits that were raised when it was continued: from then on each is at least this, in every wave. Absent where none was.',
      optional(CampaignLimits),
    ),
    max_in_flight: number(),
    catch_up_seconds: number(),
    windows: array(CampaignWindow),
    retry_quarantined: boolean(),
    planning: note(
      'While it is being planned: how many workloads were looked at.',
      optional(type({ done: number(), total: number() })),
    ),
    plan: optional(CampaignPlan),
    plan_hash: optional(string()),
    version_rolled_back: note(
      'Of one that carries a version: a campaign took this version back before, so it applies by itself no more.',
      optional(literal(true)),
    ),
    version_rolled_back_by: note('That campaign, the last one of several.', optional(string())),
    wave: note('The wave that it is in, from 0.', number()),
    wave_ends_at: note('While a wave that is done is being watched.', optional(string())),
    counts: note('Targets by state.', dictionary(number())),
    by_itself: optional(KeptByItself),
    by_itself_counts: note(
      'Of one that is rolled back: those that got its version by itself and are taken back, by state.',
      optional(dictionary(number())),
    ),
    stages_halted: note(
      'How many workloads that failed have stages which halted and are open still: once the campaign goes on, somebody can let these go on at the workload. Absent for none.',
      optional(number()),
    ),
    failed_since: note(
      'What became of the targets that failed, by the kind of `PushAftermath`. Only of one campaign that is read by itself.',
      optional(dictionary(number())),
    ),
    became_unhealthy: note(
      'Of one that runs, and of one that is paused, halted or done where it is read by itself; absent for none.',
      optional(BecameUnhealthy),
    ),
    unwell_now: note(
      'Of one that is planned and was not begun, where it is read by itself; absent for none.',
      optional(UnwellNow),
    ),
    in_part: note(
      'Workloads that have the change while some of their instances failed it or did not answer (`applied`), and those that have been getting it for a minute or longer, with the instances that have not applied it so far (`started`): how many workloads and instances, the first of the workloads, and until when these are waited for at the latest, which nobody can say while one gets it in stages. `started` only of one campaign that is read by itself. Absent where there are none.',
      optional(
        dictionary(
          object({
            workload_count: number(),
            instance_count: number(),
            workloads: array(
              object({ workload_id: string(), workload_name: string(), workload_place: optional(string()) }),
            ),
            until: optional(string()),
          }),
        ),
      ),
    ),
    held_up: note(
      'Of a running one of which nothing is under way: what keeps the next workloads of its wave from starting. All of them are frozen, until when and why; or it is outside of its windows.',
      optional(
        type({
          reason: enums(['frozen', 'window']),
          until: optional(string()),
          about: note('The reason of the freeze.', optional(string())),
        }),
      ),
    ),
    way_back: note(
      'What taking it back would do now, in workloads that it was pushed to: those that get their former config, those that have none and keep what it brought, those that run something else by now and are left alone, and, where there are such, those that have left the scopes which it is cut to and are left alone, too. Only of one campaign that is read by itself and can be taken back.',
      optional(
        object({
          goes_back: number(),
          no_way_back: number(),
          moved_on: number(),
          left_scope: optional(number()),
        }),
      ),
    ),
    wave_counts: note('The same for each wave.', array(dictionary(number()))),
    halt: optional(CampaignHalt),
    created_by: string(),
    created_by_id: note('The account that made it, since two may have one e-mail.', string()),
    requested_by: optional(string()),
    requested_at: optional(string()),
    request_comment: optional(string()),
    approvals: array(CampaignApproval),
    comments: note(
      'What people said about it before it was started, the first thing first. Only of one campaign that is read by itself.',
      optional(array(CampaignComment)),
    ),
    approval_rule: note(
      'Only of one campaign that is read by itself, once it is planned and until it is started.',
      optional(ApprovalRuleInForce),
    ),
    tally: note('Only of one that waits to be approved or started.', optional(ApprovalTally)),
    help: note('The same; only of one campaign that is read by itself.', optional(ApprovalHelp)),
    closed_by: note(
      'Whoever rejected, withdrew, aborted it or rolled it back; `muster` where nobody went on with it.',
      optional(string()),
    ),
    close_comment: optional(string()),
    started_by: optional(string()),
    started_at: optional(string()),
    ended_at: optional(string()),
    created_at: string(),
    updated_at: string(),
  }),
)
export type CampaignRecord = Infer<typeof CampaignRecord>

/** Another campaign; without its name for who does not see it. */
const OtherCampaign = type({ campaign_id: optional(string()), name: optional(string()) })

const OwnWords = note(
  'What an instance that failed says of it itself, in one line without secrets, as far as the service still knows; only for whoever may read configs.',
  optional(string()),
)

export const CampaignTarget = named(
  'CampaignTarget',
  'What a campaign does with one workload.',
  type({
    workload_id: string(),
    workload_name: string(),
    workload_place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    wave: nullable(number()),
    verdict: CampaignVerdict,
    reason: optional(CampaignReason),
    state: CampaignTargetState,
    is_back: note(
      'Of one that was away: it is connected again, and waits for its turn.',
      optional(literal(true)),
    ),
    waits_for: note(
      'Of one that was away: a newer campaign is to come to it. Once that has, this one does not; it does where the newer one is aborted before. Empty where the reader does not see that campaign.',
      optional(OtherCampaign),
    ),
    overtakes: note(
      'Of one that is away: an older campaign waits for it as well, and does not come any more once this one has.',
      optional(OtherCampaign),
    ),
    hold: note(
      'Of one that waits for its turn in a campaign that runs: that it is frozen now, and why. Of one that gets it in stages: why the next stage waits. It goes on by itself once that is over. Where that has no end of its own, as a freeze has one, the workload is skipped with it after ten minutes, and who has the change keeps it.',
      optional(StageHold),
    ),
    is_busy: note(
      'Of one that waits for its turn in a campaign that runs: another push of it is open, and it is started once that has ended.',
      optional(literal(true)),
    ),
    reach: note(
      'Of one that is being changed or that has the change: how many of the instances that it was offered to applied it, failed it and did not answer, where these are not all that applied it, and what those that failed it failed of. Of one that was skipped amid its stages the count is that of all its instances.',
      optional(
        type({
          target_count: number(),
          applied_count: number(),
          failed_count: number(),
          no_status_count: number(),
          error: optional(InstanceFault),
        }),
      ),
    ),
    base_hash: optional(string()),
    result_hash: optional(string()),
    group_key: optional(string()),
    is_production: boolean(),
    instance_count: number(),
    push_id: optional(string()),
    rollback_push_id: optional(string()),
    aftermath: note(
      'Of one that failed: what became of it, as far as the service knows now.',
      optional(PushAftermath),
    ),
    unhealthy_since: note(
      'Of one that was well before it applied the change and is not now: what is the matter with its workload.',
      optional(WorkloadTrouble),
    ),
    trouble: note(
      'Of one that waits for the campaign to come to it: what is the matter with its workload now; absent where it is well.',
      optional(WorkloadTrouble),
    ),
    cause: optional(string()),
    title: note('What went wrong, or what a refusal by the plan is about, in English.', optional(string())),
    error_parameters: ErrorParameters,
    error_message: OwnWords,
    started_at: optional(string()),
    ended_at: optional(string()),
  }),
)
export type CampaignTarget = Infer<typeof CampaignTarget>

const CampaignMiss = named(
  'CampaignMiss',
  'Workloads that a campaign meant and did not reach, or could not take back, for one cause.',
  type({
    state: CampaignTargetState,
    reason: optional(CampaignReason),
    cause: note('In the words of push errors.', optional(string())),
    title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: OwnWords,
    count: number(),
    workloads: note(
      'The first 5 of them.',
      array(type({ workload_id: string(), workload_name: string(), workload_place: optional(string()) })),
    ),
  }),
)
export type CampaignMiss = Infer<typeof CampaignMiss>

export const CampaignFigures = named(
  'CampaignFigures',
  'How fast a campaign has reached its workloads, and why it has not reached others; of those within the scope of whoever reads this.',
  type({
    reached: note(
      'When so many of a hundred had applied the change, of those that were there as it was planned; empty before it is started, and once it is taken back.',
      array(
        type({
          percentage: number(),
          at: note('Absent where they have not.', optional(string())),
          after_seconds: note('Since the campaign was started.', optional(number())),
        }),
      ),
    ),
    missed: note('The most frequent first, 20 at most.', array(CampaignMiss)),
  }),
)
export type CampaignFigures = Infer<typeof CampaignFigures>
