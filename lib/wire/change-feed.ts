import { boolean, enums, type Infer, number, optional, pick, string, type } from 'superstruct'
import { CampaignHalt } from './campaigns.ts'
import { RevisionPhase, RevisionStatus, RolloutStatus } from './revisions.ts'
import { named, note } from './structs.ts'
import {
  APPROVAL_STATUSES,
  AUTO_APPLY_STATUSES,
  CAMPAIGN_STATUSES,
  CHANGE_KINDS,
  CHANGE_OUTCOMES,
} from './values.ts'
import { WorkloadTrouble } from './workloads.ts'

export const FeedKind = named('FeedKind', '', enums(CHANGE_KINDS))
export type FeedKind = Infer<typeof FeedKind>

export const ChangeOutcome = named(
  'ChangeOutcome',
  'What became of a change: `in_part` where a push is applied on some of its targets alone, and others failed it or do not answer; `ended` is without success and without failure, such as withdrawn or overtaken.',
  enums(CHANGE_OUTCOMES),
)
export type ChangeOutcome = Infer<typeof ChangeOutcome>

export const ChangeRecord = named(
  'ChangeRecord',
  'One change of the fleet. A request that was pushed is told by its push.',
  type({
    kind: FeedKind,
    id: note('Of the push, the request, the campaign or the version that applied by itself.', string()),
    at: note(
      'When it was pushed, requested or started; of a version that applied by itself its last push, and of a campaign its last one until `to`.',
      string(),
    ),
    ended_at: optional(string()),
    outcome: ChangeOutcome,
    status: note('Of the push, by its kind.', optional(RevisionStatus)),
    phase: optional(RevisionPhase),
    rollout_id: optional(string()),
    rollout_status: optional(RolloutStatus),
    request_status: optional(enums(APPROVAL_STATUSES)),
    campaign_status: optional(enums(CAMPAIGN_STATUSES)),
    held_up: note(
      'Of a campaign that runs and stands still: what it waits for.',
      optional(enums(['frozen', 'window'])),
    ),
    auto_apply_status: optional(enums(AUTO_APPLY_STATUSES)),
    who: note('Who pushed, requested or started it; `auto-rollback` for the service itself.', string()),
    requester: optional(string()),
    approver: optional(string()),
    workload_id: optional(string()),
    workload_name: optional(string()),
    workload_place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    config_hash: note('What was to run.', optional(string())),
    failed_config_hash: note('What a rollback takes back.', optional(string())),
    approval_id: optional(string()),
    campaign_id: note('The campaign that it is, or that pushed it.', optional(string())),
    campaign_name: optional(string()),
    auto_apply_id: note(
      'The version that applied by itself that it is, or that pushed it.',
      optional(string()),
    ),
    fleet_config_id: optional(string()),
    fleet_config_name: optional(string()),
    version_number: note('Of the version that applied by itself.', optional(number())),
    is_break_glass: boolean(),
    comment: note('Why, in the words of whoever did it; only with `config:request`.', optional(string())),
    error_cause: optional(string()),
    error_title: optional(string()),
    halt: note(
      'Of a campaign that stands halted: why.',
      optional(pick(CampaignHalt, ['gate', 'value', 'limit', 'wave', 'cause', 'title'])),
    ),
    unhealthy_since: note(
      'Of a push since which instances of its workload are unhealthy: what is the matter with that now.',
      optional(WorkloadTrouble),
    ),
    target_count: optional(number()),
    instance_count: note(
      'Of a rollout in stages that is not over, or was aborted: the live instances of its workload, of which `target_count` are in the stages so far.',
      optional(number()),
    ),
    applied_count: optional(number()),
    failed_count: optional(number()),
    skipped_count: note(
      'Of a campaign: the workloads that it did not come to or could not take back, though none failed it: left out at their turn, away for too long, or without a config to go back to.',
      optional(number()),
    ),
    in_part_count: note(
      'Of a campaign that is done: the workloads that have the change while some of their instances failed it or did not answer; absent for none.',
      optional(number()),
    ),
    taken_back_count: note(
      'Of a campaign, or of a version that applied by itself: the workloads that have their former config again.',
      optional(number()),
    ),
    by_itself_taken_back_count: note(
      'Of a campaign that is rolled back: the workloads that had got its version by itself and have their former config again; absent for none.',
      optional(number()),
    ),
    push_count: note(
      'Of a campaign, or of a version that applied by itself: the pushes that it made. They are entries of their own only where the list is narrowed to a workload, to itself, a kind, or what failed or halted; those of a version also where it ends before a time.',
      optional(number()),
    ),
  }),
)
export type ChangeRecord = Infer<typeof ChangeRecord>
