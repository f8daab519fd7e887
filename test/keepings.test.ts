import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// Every map, set, list and queue that lives longer than one call, with its bound and the test that reaches the bound.
// One that is not listed here fails the test.

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Keeping {
  bound: string
  /** A file below test/, and the name of the test in it. */
  reachedBy: readonly [file: string, name: string]
}

const AGENTS = [
  'lib/fleet/state/agent-limits.test.ts',
  'a connection carries so many agents, the process holds so many, and those that are there go on',
] as const
const WORKLOADS = [
  'lib/fleet/state/agent-limits.test.ts',
  'so many workloads are made up and no more; agents of those that are there go on, and one deleted makes room',
] as const
const SOCKETS = [
  'runtime/socket-room.test.ts',
  'are so many in all, also when they shake hands at once',
] as const
const SAID = [
  'runtime/socket-turns.test.ts',
  'is a share for each where much waits of all, and less where nothing more may wait',
] as const
const GONE = [
  'lib/fleet/janitor.test.ts',
  'leave no row with an applied push that they joined, and are remembered by it for what they failed',
] as const
const BURST = ['lib/hub/hub.test.ts', 'becomes one resync, and only a rollback is told meanwhile'] as const
const WAITERS = [
  'lib/limits.test.ts',
  'lets so many callers wait for a session and refuses one more at once',
] as const
const ATTRIBUTES = [
  'lib/opamp/intake.test.ts',
  '128 attributes are kept, over both lists together, and a known key may still be overridden',
] as const
const THREADS = ['lib/workers/pool.test.ts', 'refuses at once what neither runs nor fits the queue'] as const
const POLLERS = [
  'lib/opamp/http-pollers.test.ts',
  'many invented uids do not grow without end: the one unused for longest goes',
] as const

const CHANGED_LINES = [
  'lib/configs/diff/changed-lines.test.ts',
  'is the same for equal lines at the same place of the config, wherever in the text that is',
] as const
const SELECTORS = ['lib/selectors/selector.test.ts', '%j is refused for a fleet config'] as const

const POLL_BODIES: Keeping = {
  bound: 'the bodies of polls that hold something of three quarters of the budget for decoding',
  reachedBy: [
    'functions/opamp/slow-bodies.test.ts',
    'short bodies that never end keep none of other addresses away, and their own for some seconds only',
  ],
}

const perAgent: Keeping = {
  bound: 'the agents that are here or away for less than the grace',
  reachedBy: AGENTS,
}
const perWorkload: Keeping = { bound: 'the workloads', reachedBy: WORKLOADS }
const perCampaign: Keeping = {
  bound: 'the workloads of the campaigns at work, and of versions in force; what is over is forgotten',
  reachedBy: [
    'functions/campaigns/lifecycle.test.ts',
    'goes wave by wave, and is done when everybody runs it',
  ],
}
const perSocket: Keeping = { bound: 'the sockets of the listener', reachedBy: SOCKETS }
const perPush: Keeping = {
  bound:
    'the targets of pushes that are followed: the fleet at the push, who joined while it was open, who is here',
  reachedBy: GONE,
}

const KEPT: Readonly<Record<string, Keeping>> = {
  'lib/model/outages.ts LossCount.#environments': perWorkload,
  'lib/cluster/departures.ts Departures.#gone': {
    bound: 'twenty, for an hour',
    reachedBy: [
      'lib/cluster/departures.test.ts',
      'are bounded: of processes that come and go all the time the last twenty are known',
    ],
  },
  'lib/cluster/departures.ts Departures.#members': {
    bound: 'the members of now',
    reachedBy: [
      'lib/cluster/departures.test.ts',
      'are bounded: of processes that come and go all the time the last twenty are known',
    ],
  },
  'lib/alerts/workload-facts.ts AssignmentTimes.#known': perAgent,
  'lib/audit/delivery.ts AuditDelivery.#doubted': {
    bound: '1,000 records',
    reachedBy: ['lib/audit/database.test.ts', 'of so many records as wait for the word of the database'],
  },
  'lib/audit/lock-holds.ts AuditLockHolds.#holds': {
    bound: 'one for each name of a transaction that the code has',
    reachedBy: ['lib/audit/database.test.ts', 'appends many records as one, in their order'],
  },
  'lib/configs/engine.ts openFound().kept': {
    bound: '5,000 configs, and 32 million characters of what was found in them',
    reachedBy: ['lib/limits.test.ts', 'is remembered of so many bytes of what configs are'],
  },
  'lib/configs/yaml/locate.ts module indexes': {
    bound: 'the keys of mappings of a document that somebody still holds, and gone with it',
    reachedBy: [
      'lib/configs/yaml/locate.test.ts',
      'is found for each of many keys without going through all of them each time',
    ],
  },
  'lib/configs/yaml/parse-memory.ts rememberTexts().kept': {
    bound: '450,000 characters of configs, and 100,000 of versions',
    reachedBy: [
      'lib/configs/yaml/parse-memory.test.ts',
      'forgets the text that was unused for longest when all together are too long',
    ],
  },
  'lib/fleet/intake/effective-configs.ts Text.instances': perAgent,
  'lib/fleet/intake/effective-configs.ts GivenUp.instances': {
    ...perAgent,
    bound: 'the agents that reported the text; an hour at most',
  },
  'lib/fleet/intake/effective-configs.ts EffectiveConfigs.#givenUp': {
    bound: '1,000 texts',
    reachedBy: [
      'lib/fleet/intake/effective-configs.test.ts',
      'that nobody can read in time are tried ever more rarely, and so many are remembered',
    ],
  },
  'lib/fleet/views/instance-fault.ts module found': perAgent,
  'lib/fleet/intake/effective-configs.ts EffectiveConfigs.#known': {
    bound: '20,000 normal forms without their texts',
    reachedBy: ['lib/fleet/intake/effective-configs.test.ts', 'are kept by what they hold up to a number'],
  },
  'lib/fleet/intake/effective-configs.ts EffectiveConfigs.#underWay': {
    bound: '1,000 texts and 64 MiB',
    reachedBy: [
      'lib/fleet/intake/effective-configs.test.ts',
      'beyond what may wait are asked for again, and none is lost',
    ],
  },
  'lib/fleet/intake/effective-configs.ts EffectiveConfigs.#queue': {
    bound: 'those under way',
    reachedBy: [
      'lib/fleet/intake/effective-configs.test.ts',
      'beyond what may wait are asked for again, and none is lost',
    ],
  },
  'lib/fleet/intake/effective-configs.ts EffectiveConfigs.#owed': {
    bound:
      'the agents that are here, and as many of those that poll a front as it remembers; whoever leaves is taken out',
    reachedBy: ['lib/links/front-agents.test.ts', 'is asked for no more of one %s'],
  },
  'lib/fleet/state/derive.ts TouchedWorkloads.#touched': perWorkload,
  'lib/fleet/offers/offer-commits.ts OfferCommits.#waiting': perAgent,
  'lib/fleet/offers/poll-answers.ts PollAnswers.#open': perAgent,
  'lib/fleet/offers/offer-engine.ts OfferEngine.sentCounts': {
    bound: 'the causes of offers',
    reachedBy: AGENTS,
  },
  'lib/fleet/pushes/commit-turns.ts CommitTurns.#inDoubt': {
    ...perWorkload,
    bound: 'weak: goes with the workload',
  },
  'lib/fleet/pushes/push-undoing.ts PushUndoing.#failing': perWorkload,
  'lib/fleet/rollouts/rollout-engine.ts RolloutEngine.#busy': perWorkload,
  'lib/fleet/rollouts/dwell-times.ts DwellTimes.#convergedSince': {
    bound: 'one for each rollout that is open',
    reachedBy: [
      'functions/rollouts/rollouts.test.ts',
      'times the dwell of stages that are open, and of no others',
    ],
  },
  'lib/fleet/state/counters.ts FleetCounters.#kept': perWorkload,
  'lib/fleet/state/counters.ts FleetCounters.#changedSince': perWorkload,
  'lib/fleet/state/counters.ts FleetCounters.#endedBefore': {
    bound: 'a hundred, of which the oldest goes first',
    reachedBy: [
      'lib/fleet/state/counters.test.ts',
      'does not count a request whose end is heard of first, however many ends of others are',
    ],
  },
  'lib/fleet/state/live-tally.ts LabelValues.others': {
    bound: 'the attributes of live agents',
    reachedBy: ATTRIBUTES,
  },
  'lib/fleet/state/common-components.ts CommonComponents.#lists': perAgent,
  'lib/fleet/state/common-components.ts CommonComponents.#counts': {
    bound: 'the names in the component lists of live agents',
    reachedBy: [
      'lib/fleet/state/common-components.test.ts',
      'lists that lack a category or a name have in common what is left, and are what they were once it has gone',
    ],
  },
  'lib/fleet/state/common-components.ts CategoryCount.types': {
    bound: 'the names in the component lists of live agents',
    reachedBy: [
      'lib/fleet/state/common-components.test.ts',
      'lists that lack a category or a name have in common what is left, and are what they were once it has gone',
    ],
  },
  'lib/fleet/state/kept-bytes.ts KeptBytes.#counted': perAgent,
  'lib/fleet/state/kept-bytes.ts KeptBytes.#lists': {
    bound: 'AGENT_LIMITS.keptBytes, and an eighth for agents that are here; what would take more is refused',
    reachedBy: ['lib/fleet/state/kept-bytes.test.ts', 'component lists'],
  },
  'lib/fleet/state/kept-bytes.ts KeptBytes.#shares': {
    bound: 'the open WebSockets of agents',
    reachedBy: [
      'lib/fleet/state/agent-limits.test.ts',
      'the agents of one WebSocket fill a share of the room',
    ],
  },
  'lib/fleet/state/live-tally.ts LiveTally.#shares': perAgent,
  'lib/fleet/state/version-tally.ts VersionTally.#counted': perAgent,
  'lib/fleet/state/version-tally.ts VersionTally.#lowest': {
    bound: 'a fixed number of versions',
    reachedBy: [
      'lib/fleet/state/version-tally.test.ts',
      'whoever comes and goes, the lowest versions are those of a recount (seed %i)',
    ],
  },
  'lib/fleet/state/live-tally.ts LiveTally.#labels': {
    bound: 'the attributes of live agents',
    reachedBy: ATTRIBUTES,
  },
  'lib/fleet/state/live-tally.ts LiveTally.#reportedHashes': perAgent,
  'lib/fleet/state/live-tally.ts LiveTally.#reporters': perAgent,
  'lib/fleet/state/live-tally.ts LiveTally.#unhealthy': perAgent,
  'lib/fleet/state/live-tally.ts LiveTally.#healthAwaited': perAgent,
  'lib/fleet/state/common-components.ts module made': {
    bound: 'weak: goes with the component list',
    reachedBy: [
      'lib/fleet/compatibility.test.ts',
      'a push does not keep the component lists that an agent made up and reports no more',
    ],
  },
  'lib/fleet/state/model.ts FollowedPush.targets': perPush,
  'lib/fleet/state/model.ts FollowedPush.compatibility': {
    bound: 'weak: goes with the component list',
    reachedBy: [
      'lib/fleet/compatibility.test.ts',
      'a push does not keep the component lists that an agent made up and reports no more',
    ],
  },
  'lib/fleet/state/model.ts FollowedPush.addedSince': {
    bound: 'the targets of the push, and none longer than they are there',
    reachedBy: [
      'lib/fleet/offers/never-leaves-its-front.test.ts',
      'says so of one that came since, to which this process sends what a former one pushed',
    ],
  },
  'lib/fleet/state/model.ts FollowedPush.appliedMs': perPush,
  'lib/fleet/state/model.ts FollowedPush.awaiting': perPush,
  'lib/fleet/state/model.ts FollowedPush.waited': perPush,
  'lib/fleet/state/model.ts FollowedPush.waitedJoiners': {
    bound: 'WAITED_JOINERS_MAX a push, and none once it is decided',
    reachedBy: [
      'lib/fleet/pushes/push-ends.test.ts',
      'keep no push open for ever, where they join, are forgotten in between and join again',
    ],
  },
  'lib/fleet/state/model.ts FollowedPush.missing': perPush,
  'lib/fleet/state/model.ts FollowedPush.lostJoiners': {
    bound: 'LOST_JOINERS_MAX a push',
    reachedBy: [
      'lib/fleet/pushes/joiners.test.ts',
      'keeps the rows of the last hundred that were lost with it, and of those that came back',
    ],
  },
  'lib/fleet/state/model.ts Rollout.awaitedUids': {
    ...perAgent,
    bound: 'the agents of the workload that were known at the start',
  },
  'lib/fleet/state/model.ts Rollout.members': perPush,
  'lib/auto-apply/run.ts AutoApplyRun.queue': perWorkload,
  'lib/workers/pool.ts Room.queue': {
    bound: 'maxQueued of the room',
    reachedBy: ['lib/workers/pool.test.ts', 'keeps a thread and a queue for each kind of caller'],
  },
  'lib/fleet/state/model.ts UnsettledMembers.starting': perPush,
  'lib/fleet/state/model.ts UnsettledMembers.startsMs': perPush,
  'lib/fleet/state/model.ts Workload.instances': perAgent,
  'lib/fleet/state/model.ts Workload.quarantinedHashes': {
    ...perPush,
    bound: 'the configs that operators pushed',
  },
  'lib/fleet/state/model.ts Workload.quarantinedInstances': { bound: 'the homes of agents', reachedBy: GONE },
  'lib/fleet/inventory/workload-leaving.ts WorkloadLeaving.#doubted': {
    bound: 'the homes of agents; empty once the database has said which are forgotten',
    reachedBy: [
      'lib/fleet/janitor-unheard.test.ts',
      'an agent that was forgotten is offered what it had failed, also where',
    ],
  },
  'lib/fleet/commit-doubts.ts CommitDoubts.#followers': {
    bound: 'one of each part of a process that keeps what is stored, registered as it is made',
    reachedBy: [
      'lib/fleet/commit-doubts.test.ts',
      'browsers that missed a frame are told to fetch again what they show',
    ],
  },
  'lib/keyed-mutex.ts KeyedMutex.#tails': {
    ...perWorkload,
    bound: 'workloads that something is done to now, and addresses whose sign-ins take turns',
  },
  'lib/fleet/state/state.ts FleetState.instances': perAgent,
  'lib/fleet/state/state.ts FleetState.#workloads': perWorkload,
  'lib/fleet/state/state.ts FleetState.#newest': perWorkload,
  'lib/fleet/state/state.ts FleetState.homes': {
    bound: '500,000 agents',
    reachedBy: [
      'lib/limits.test.ts',
      'remembers the homes of so many agents, whoever described himself longest ago is forgotten',
    ],
  },
  'lib/fleet/state/state.ts FleetState.byConnection': perAgent,
  'lib/fleet/state/state.ts FleetState.componentLists': {
    bound: '5,000 lists',
    reachedBy: [
      'lib/limits.test.ts',
      'shares so many component lists among instances, the one made first goes',
    ],
  },
  'lib/fleet/state/state.ts FleetState.outstanding': perAgent,
  'lib/fleet/state/state.ts FleetState.unknownReported': perAgent,
  'lib/fleet/state/state.ts FleetState.awaitingComponents': perAgent,
  'lib/fleet/state/state.ts FleetState.awaitingDescription': perAgent,
  'lib/fleet/state/state.ts FleetState.httpInstances': perAgent,
  'lib/fleet/state/state.ts FleetState.#rhythms': {
    bound: '100,000 pollers',
    reachedBy: [
      'lib/fleet/intake/slow-pollers.test.ts',
      'so many rhythms are remembered, the one of the poller that left longest ago goes',
    ],
  },
  'lib/fleet/state/departures.ts Departures.#saidMs': {
    bound:
      'DEPARTURES_MAX, the one that was noted longest ago is forgotten first; none for longer than ten minutes',
    reachedBy: [
      'lib/fleet/state/departures.test.ts',
      'is remembered of so many agents, and of none for ever',
    ],
  },
  'lib/fleet/intake/late-sayings.ts LateSayings.#held': {
    bound:
      'what fronts keep, ENDINGS_MAX agents of each, in the first ten seconds of an owner; none after them',
    reachedBy: [
      'lib/links/late-sayings.test.ts',
      'what a new owner has held back of many agents that left is taken in turns',
    ],
  },
  'lib/fleet/state/unstored-numbers.ts UnstoredNumbers.#of': {
    bound: 'the links that are open',
    reachedBy: SOCKETS,
  },
  'lib/fleet/state/unstored-numbers.ts Numbers.waiting': {
    bound: 'UNSTORED_NUMBERS_MAX, then the oldest are given up',
    reachedBy: [
      'lib/links/owner-links.test.ts',
      'is confirmed once it is stored, of so many that wait for an absent database the last',
    ],
  },
  'lib/fleet/state/state.ts FleetState.inGrace': perWorkload,
  'lib/fleet/state/state.ts FleetState.healthWatch': perWorkload,
  'lib/fleet/state/state.ts FleetState.away': perAgent,
  'lib/fleet/state/state.ts FleetState.rollingOut': perWorkload,
  'lib/fleet/state/state.ts FleetState.knownAtStart': {
    bound: 'empty once the grace after the start is over',
    reachedBy: ['lib/fleet/janitor.test.ts', 'are not known from before our start for longer than the grace'],
  },
  'lib/fleet/state/state.ts FleetState.altered': {
    bound: '20,000 instances, of which one that is away gives way to another; and only those that are known',
    reachedBy: [
      'lib/fleet/intake/altered-times.test.ts',
      'is kept of so many instances, of which one that is away gives way, and of more nothing is written down',
    ],
  },
  'lib/fleet/state/state.ts FleetState.unhealthyStored': {
    bound:
      'those of the agents that are here, and of those known at the start until the grace after it is over',
    reachedBy: [
      'lib/fleet/views/unhealthy-since.test.ts',
      'is a new one where the instance stayed away for longer than the grace',
    ],
  },
  'lib/fleet/state/waiting-rows.ts WaitingRows.workloads': perWorkload,
  'lib/fleet/state/waiting-rows.ts WaitingRows.seen': perWorkload,
  'lib/fleet/state/waiting-rows.ts WaitingRows.homes': perAgent,
  'lib/fleet/state/waiting-rows.ts WaitingRows.unhealthy': perAgent,
  'lib/fleet/state/waiting-rows.ts WaitingRows.#events': {
    bound: '100,000 events',
    reachedBy: [
      'lib/limits.test.ts',
      'lets so many events wait for the database, the oldest is lost and counted',
    ],
  },
  'lib/fleet/state/waiting-rows.ts ByTarget.#byPush': perPush,
  'lib/fleet/state/waiting-rows.ts WaitingRows.pushes': perWorkload,
  'lib/fleet/state/waiting-rows.ts WaitingRows.#quarantines': perPush,
  'lib/fleet/state/waiting-rows.ts WaitingRows.#configs': {
    bound: '64 MiB of texts',
    reachedBy: [
      'lib/fleet/intake/effective-configs.test.ts',
      'wait for the database within a bound, and are asked for again when it is back',
    ],
  },
  'lib/reports/kept-packs.ts KeptPacks.#byKey': {
    bound: '24 MiB of packs, ten minutes each',
    reachedBy: ['lib/reports/kept-packs.test.ts', 'are so many bytes together, the one made first goes'],
  },
  'lib/fleet/views/effective-matches.ts EffectiveMatches.#known': {
    bound: '20,000 pairs',
    reachedBy: ['lib/limits.test.ts', 'is remembered of so many pairs of configs'],
  },
  'lib/fleet/views/shown-labels.ts module shown': {
    bound: '2,000 values of labels',
    reachedBy: ['lib/limits.test.ts', 'is remembered of so many labels, and they are shown the same after'],
  },
  'lib/fleet/views/fleet-views.ts FleetViews.#unlooked': perWorkload,
  'lib/fleet/views/fleet-views.ts FleetViews.#withTexts': {
    ...perWorkload,
    bound: 'weak: goes with the workload',
  },
  'lib/fleet/views/fleet-views.ts FleetViews.#withoutTexts': {
    ...perWorkload,
    bound: 'weak: goes with the workload',
  },
  'lib/hub/browser-queue.ts BrowserQueue.#frames': {
    bound: '8 MiB for each browser',
    reachedBy: ['lib/hub/hub.test.ts', 'is told to fetch again when it is too far behind, and what follows'],
  },
  'lib/hub/hub.ts Hub.#later': {
    bound: 'one for each push that had no answer when it was told, until its time for one is over',
    reachedBy: ['lib/hub/notices.test.ts', 'tells a push no more while nothing of it changes'],
  },
  'lib/campaigns/campaigns.ts Campaigns.#toldUnreadable': {
    bound: 'one for each stored campaign that cannot be read, which only a hand or another build makes',
    reachedBy: [
      'functions/campaigns/unreadable.test.ts',
      'lists all campaigns where one has a column that cannot be read, and shows that one as far as it can be',
    ],
  },
  'lib/campaigns/plan/planner.ts CampaignPlanner.#underWay': perCampaign,
  'lib/auto-apply/engine.ts AutoApplyEngine.#pushedMs': {
    bound: 'the pushes of one second: 50',
    reachedBy: ['functions/auto-apply/auto-apply.test.ts', 'goes to no more than fifty in a second'],
  },
  'lib/auto-apply/engine.ts AutoApplyEngine.#inForce': {
    bound: 'one of each fleet config; replaced as a whole each time that the database is asked',
    reachedBy: ['functions/auto-apply/auto-apply.test.ts', 'can be paused and continued, and turned off'],
  },
  'lib/auto-apply/run.ts AutoApplyRun.inFlight': perWorkload,
  'lib/auto-apply/run.ts AutoApplyRun.leftOut': perWorkload,
  'lib/auto-apply/run.ts AutoApplyRun.nextTryMs': perWorkload,
  'lib/campaigns/run/run.ts CampaignRun.busy': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.driftingSinceMs': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.inFlight': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.leftAlone': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.offline': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.steady': perCampaign,
  'lib/campaigns/run/run.ts CampaignRun.watched': perCampaign,
  'lib/campaigns/run/kept-runs.ts KeptRuns.#runs': perCampaign,
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#candidates': {
    bound: '500 fleet configs, whose selectors have 2,000 conditions and globs together',
    reachedBy: [
      'lib/fleet-configs/remembered.test.ts',
      'have so many conditions at most, since every workload is compared with all of them',
    ],
  },
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#selected': perWorkload,
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#configs': {
    bound: '500 fleet configs',
    reachedBy: ['functions/fleet-configs/fleet-configs.test.ts', 'are so many and no more'],
  },
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#holds': perWorkload,
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#managed': {
    bound: '500 fleet configs',
    reachedBy: ['functions/fleet-configs/fleet-configs.test.ts', 'are so many and no more'],
  },
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#members': perWorkload,
  'lib/fleet-configs/fleet-configs.ts FleetConfigs.#kept': perWorkload,
  'lib/configs/diff/changed-lines.ts openPlaces().above': {
    bound: 'the lines of two configs, while they are compared',
    reachedBy: CHANGED_LINES,
  },
  'lib/configs/diff/changed-lines.ts openPlaces().open': {
    bound: 'how deep a line of a config is indented, while it is compared',
    reachedBy: CHANGED_LINES,
  },
  'lib/configs/render/render.ts Filler.#checks': {
    bound: 'the variables of a version, while it is rendered',
    reachedBy: ['lib/configs/render/render.test.ts', 'is held to its pattern once'],
  },
  'lib/configs/render/variables.ts openVariable().known': {
    bound: 'the values of a version, while they are checked',
    reachedBy: [
      'lib/fleet-configs/read-version.test.ts',
      'are looked at once where they are equal, and others have their turn by the clock',
    ],
  },
  'lib/model/patterns.ts openStates().places': {
    bound: 'the 256 characters of a pattern',
    reachedBy: ['lib/model/patterns.test.ts', '%j is refused: %s'],
  },
  'lib/selectors/glob.ts openPlaces().byCharacter': {
    bound: 'the 256 characters of a glob',
    reachedBy: SELECTORS,
  },
  'lib/selectors/selector.ts openValues().plain': {
    bound: '50 values of 256 characters',
    reachedBy: SELECTORS,
  },
  'lib/label-rules/label-rules.ts LabelRules.#rules': {
    bound: '100 label rules and 4 MiB of lists',
    reachedBy: [
      'functions/label-rules/label-rules.test.ts',
      'are so many, and set so many labels, and no more',
    ],
  },
  'lib/hub/hub.ts Hub.#members': perSocket,
  'lib/hub/hub.ts Hub.#waiting': { bound: '400 states, then one resync', reachedBy: BURST },
  'lib/hub/hub.ts Hub.#toldAtMs': { bound: 'what was told within a second', reachedBy: BURST },
  'lib/hub/hub.ts Hub.#outbox': { bound: 'what is told within 20 ms', reachedBy: BURST },
  'lib/hub/notices.ts HubNotices.#archived': perWorkload,
  'lib/hub/notices.ts HubNotices.#toldPushes': perWorkload,
  'lib/identity/fresh-reads.ts FreshReads.#entries': {
    bound: '10,000 sessions, and as many API tokens',
    reachedBy: ['lib/limits.test.ts', 'is remembered of so many sessions'],
  },
  'lib/identity/fresh-reads.ts FreshReads.#running': {
    bound: 'callers of the database',
    reachedBy: WAITERS,
  },
  'lib/identity/fair-places.ts FairPlaces.#held': {
    bound: '100: one for each network that has a place',
    reachedBy: ['lib/identity/oidc-callbacks.test.ts', 'and who comes from elsewhere waits'],
  },
  'lib/identity/fair-places.ts FairPlaces.#waiting': {
    bound: '200 in all, of all networks',
    reachedBy: ['lib/identity/oidc-callbacks.test.ts', 'and no more than two hundred wait'],
  },
  'lib/identity/login-limit.ts Buckets.#buckets': {
    bound: '10,000 entries',
    reachedBy: ['lib/identity/login-limit.test.ts', 'keeps its table bounded'],
  },
  'lib/identity/oidc-callbacks.ts openCallbackRoom().here': {
    bound: 'a hundred callbacks that are under way, and four hundred that wait for their turn',
    reachedBy: [
      'lib/identity/oidc-callbacks.test.ts',
      'there are at most four hundred, from however many addresses',
    ],
  },
  'lib/identity/oidc-callbacks.ts Place.waiting': {
    bound: 'twenty callbacks of the address',
    reachedBy: ['lib/identity/oidc-callbacks.test.ts', 'there are at most twenty of an address'],
  },
  'lib/identity/oidc/lately.ts Lately.#noted': {
    bound: '10,000 sign-ins with the provider, for 15 minutes each; 10,000 refused ones, for a minute each',
    reachedBy: [
      'lib/identity/oidc/ended-flows.test.ts',
      'knows so many flows that have ended, for as long as their cookies are valid',
    ],
  },
  'lib/model/name-order.ts NameOrder.#order': perWorkload,
  'lib/opamp/http-pollers.ts createHttpPollers().pollers': { bound: '100,000 pollers', reachedBy: POLLERS },
  'lib/opamp/http-pollers.ts createHttpPollers().bySource': { bound: '100,000 pollers', reachedBy: POLLERS },
  'lib/posture/collector-assessment.ts module shown': {
    ...perWorkload,
    bound: 'weak: goes with the component list',
  },
  'lib/configs/redact/redact.ts module judgedKeys': {
    bound: '2,000 keys of 64 characters',
    reachedBy: ['lib/limits.test.ts', 'is remembered of so many keys, and is judged the same after'],
  },
  'lib/store/connection.ts Session.#names': { bound: 'the statements of lib/store', reachedBy: WAITERS },
  'lib/store/connection.ts Session.#listeners': { bound: 'one', reachedBy: WAITERS },
  'lib/store/live-sessions.ts LiveSessions.#sessions': {
    bound: 'the sessions of DB_MAX_OPEN_CONNS, and those that ended since the last one was opened',
    reachedBy: WAITERS,
  },
  'lib/store/pool.ts SessionPool.#idle': {
    bound: 'DB_MAX_IDLE_CONNS',
    reachedBy: [
      'lib/store/pool.test.ts',
      'closes idle connections beyond their limit when they are released',
    ],
  },
  'lib/store/pool.ts SessionPool.#waiters': { bound: '2,000 callers, 10 s each', reachedBy: WAITERS },
  'lib/store/process-lock.ts AdvisoryProcessLock.#ownSessions': {
    bound: 'the attempts since the lock was held last',
    reachedBy: [
      'lib/store/process-lock.test.ts',
      'goes on when the answer to its second attempt at the lock is lost',
    ],
  },
  'lib/workers/pool.ts ThreadPool.#threads': { bound: 'maxThreads', reachedBy: THREADS },
  'lib/workers/pool.ts ThreadPool.#rooms': {
    bound: 'maxQueued of each room',
    reachedBy: ['lib/workers/pool.test.ts', 'keeps a thread and a queue for each kind of caller'],
  },
  'lib/links/batch-writer.ts BatchWriter.#entries': {
    bound:
      '256 KiB, or what one turn of the event loop says; of an owner that may not act, what a front has asked until then',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'goes out in batches, and what one turn says goes out together',
    ],
  },
  'lib/links/front-agents.ts FrontAgents.#beats': perAgent,
  'lib/links/front-agents.ts FrontAgents.#connections': perAgent,
  'lib/links/front-agents.ts FrontAgents.#dirty': perAgent,
  'lib/links/front-agents.ts Held.agents': perAgent,
  'lib/links/front-agents.ts FrontAgents.#unconfirmed': {
    bound: 'UNCONFIRMED_MAX, and about UNCONFIRMED_BYTES_MAX',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'keeps of goodbyes that the owner does not answer no reports beyond those 500, and says each at once',
    ],
  },
  'lib/links/front-agents.ts FrontAgents.#unstored': perAgent,
  'lib/links/front-endings.ts FrontEndings.#goodbyes': {
    bound: 'those of #waiting',
    reachedBy: ['lib/links/endings.test.ts', 'is kept of so many agents, and the oldest are given up first'],
  },
  'lib/links/front-endings.ts FrontEndings.#lastWords': {
    bound: 'those of #waiting',
    reachedBy: [
      'lib/links/last-words.test.ts',
      'is kept of so many bytes, and the oldest are given up first',
    ],
  },
  'lib/links/front-endings.ts FrontEndings.#waiting': {
    bound:
      'ENDINGS_MAX agents that left, with ENDINGS_BYTES_MAX bytes of what agents said last; the oldest are given up first',
    reachedBy: ['lib/links/endings.test.ts', 'is kept of so many agents, and the oldest are given up first'],
  },
  'lib/links/front-offers.ts FrontOffers.#generations': {
    bound:
      'WORKLOADS_MAX, then the one that was offered something longest ago is forgotten; none of an earlier link',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'is sent where so many other workloads were offered something since that the newer one is forgotten',
    ],
  },
  'lib/links/front-polls.ts FrontPolls.#asked': {
    bound: 'POLLS_MAX, then all are forgotten',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'is asked once for everything while nobody answers, and so many are remembered',
    ],
  },
  'lib/links/front-polls.ts FrontPolls.#configs': {
    bound: 'POLLS_MAX, then the oldest is forgotten',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'is asked for again by no more than twice as many agents as polls may wait, of those that came last',
    ],
  },
  'lib/links/front-polls.ts FrontPolls.#late': {
    bound: 'POLLS_MAX and those that were open by then, as no more are passed on; none of an earlier link',
    reachedBy: [
      'lib/links/pollers-at-fronts.test.ts',
      'as many pollers as there are, each is offered what came too late for its poll with its next one',
    ],
  },
  'lib/links/front-polls.ts FrontPolls.#open': {
    bound: 'POLLS_MAX, each for a second',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'is asked once for everything while nobody answers, and so many are remembered',
    ],
  },
  'lib/links/front-polls.ts FrontPolls.#unasked': {
    bound: 'POLLS_MAX, then the oldest is forgotten',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'is asked with its next poll for what the owner asked too late for the last one, as far as so many are remembered',
    ],
  },
  'lib/links/kept-report.ts KeptReport.#fields': {
    bound:
      'five fields of an agent; of all agents KEPT_BYTES_MAX, then those on the connection with most of it are given up',
    reachedBy: [
      'lib/links/front-agents.test.ts',
      'keeps so many bytes of what all agents have said, and has those asked again that share the connection with most',
    ],
  },
  'lib/links/offer-texts.ts OfferTexts.#kept': {
    bound: '32 MiB',
    reachedBy: [
      'lib/links/offer-texts.test.ts',
      'are kept up to 32 MiB, the one unused for longest goes first',
    ],
  },
  'lib/links/offer-texts.ts OfferTexts.#reading': {
    bound: 'the configs that are offered at one time, until the database answers',
    reachedBy: [
      'lib/links/offer-texts.test.ts',
      'are read once, however many ask at once, and only as what they are named',
    ],
  },
  'lib/links/owner-links.ts LinkConnection.granted': perAgent,
  'lib/links/owner-links.ts LinkConnection.offered': perAgent,
  'lib/links/owner-links.ts OwnerLink.#connections': perSocket,
  'lib/links/owner-links.ts OwnerLink.#polled': {
    bound: 'the pollers that were offered a config within 10 s',
    reachedBy: POLLERS,
  },
  'lib/links/owner-links.ts OwnerLinks.#links': perSocket,
  'lib/links/reported-texts.ts ReportedTexts.#waiting': {
    bound: '32 MiB',
    reachedBy: [
      'lib/links/reported-texts.test.ts',
      'wait up to 32 MiB while the database is away, and are stored when it is back',
    ],
  },
  'runtime/fronts/browser-pipes.ts createBrowserPipes().pipes': perSocket,
  'runtime/fronts/browser-pipes.ts Pipe.#waiting': {
    bound: 'what had been read of the owner already when a browser fell behind: 64 KiB beside one frame',
    reachedBy: [
      'runtime/fronts/browser-pipes.test.ts',
      'reads no more of the owner than a browser reads, and loses nothing of what it had read',
    ],
  },
  'runtime/cli/desired/commit.ts openHasCommit().asked': {
    bound:
      'an entry for each checkout that the documents of one call of the command line lie in, and for each commit whose text runs of them',
    reachedBy: [
      'runtime/cli/desired/commit.test.ts',
      'are told with Git asked once whether it is there and has a commit, however many documents there are',
    ],
  },
  'runtime/cli/login/answer-listener.ts createOpenServer().silent': {
    bound: '16 connections that have asked for nothing; a further one takes the place of the oldest',
    reachedBy: [
      'runtime/cli/answer-listener.test.ts',
      'lets the browser through past any number of connections that say nothing',
    ],
  },
  'runtime/cli/login/answer-listener.ts openAnswerListener().waiting': {
    bound: '16 presses of the button in the browser',
    reachedBy: [
      'runtime/cli/answer-listener.test.ts',
      'ends where the browser that brought the code has given its request up',
    ],
  },
  'runtime/fronts/owner-turns.ts OwnerTurns.#waiting': {
    bound: 'the requests and handshakes that wait for an owner, each for three seconds at most',
    reachedBy: [
      'runtime/fronts/owner-turns.test.ts',
      'lets one of a hundred try an owner that cannot be reached, and each time later',
    ],
  },
  'runtime/fronts/owner-door.ts OwnerDoor.#asked': {
    bound: 'the requests that are being answered, each for two minutes at most',
    reachedBy: [
      'runtime/fronts/members.test.ts',
      'a change that was delivered and not answered is said to be unknown and done once; a read is asked again',
    ],
  },
  'runtime/fronts/proven-connections.ts ProvenConnections.#asked': {
    bound: 'the connections that are being made for requests and handshakes, each for a few seconds at most',
    reachedBy: [
      'runtime/fronts/strangers.test.ts',
      'hears nothing of any caller, and is given up, where it says nothing',
    ],
  },
  'lib/cluster/membership.ts Membership.#unproven': {
    bound: 'the rows that one renewal reads, a thousand',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/agent-body-room.ts AgentBodyRoom.#unfinished': POLL_BODIES,
  'runtime/agent-body-room.ts Held.#of': POLL_BODIES,
  'runtime/connection-room.ts SocketsByAddress.#counts': perSocket,
  'runtime/fronts/leaving.ts Leaving.#linked': {
    bound: 'the ids of the rows that one renewal reads, a thousand; those that are not read any more go',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/leaving.ts Leaving.#tried': {
    bound: 'the ids of the rows that one renewal reads, a thousand; those that are not read any more go',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/leaving.ts Leaving.#inVain': {
    bound: 'the ids of the rows that one renewal reads, a thousand; those that are not read any more go',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/leaving.ts Leaving.#untried': {
    bound: 'the rows that one renewal reads, a thousand; made anew with each look',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/leaving.ts Leaving.#unlinkedSince': {
    bound: 'the rows that one renewal reads, a thousand; made anew with each look',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/member-addresses.ts MemberAddresses.#hosts': {
    bound: 'the hosts of the rows that one renewal reads, a thousand',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/fronts/standing.ts Standing.reachedIds': {
    bound: 'the rows that one renewal reads, a thousand',
    reachedBy: ['lib/cluster/membership.test.ts', 'are read up to a number, and not counted'],
  },
  'runtime/plain-counts.ts PlainCounts.#asking': {
    bound: 'the requests that are not answered yet',
    reachedBy: [
      'runtime/descriptor-room.test.ts',
      'counts a connection for its network until its answer, and as long after it as the library keeps it',
    ],
  },
  'runtime/piece-turns.ts PieceTurns.#waiting': {
    bound: 'one for each answer that is being sent',
    reachedBy: [
      'runtime/piece-turns.test.ts',
      'take a few milliseconds of a turn of the loop together: asked for %s',
    ],
  },
  'runtime/socket-room.ts SocketRoom.#open': perSocket,
  'runtime/socket-turns.ts SocketTurns.#front': { bound: '256 MiB of messages', reachedBy: SAID },
  'runtime/socket-turns.ts SocketTurns.#behind': { bound: '256 MiB of messages', reachedBy: SAID },
  'runtime/uws.ts Apps.#all': {
    bound: 'eight with connections beside the one that takes them',
    reachedBy: [
      'runtime/uws-renewal.test.ts',
      'goes on with what it has, until so many others have come after its certificate',
    ],
  },
  'runtime/uws-sockets.ts SocketsOfListener.open': perSocket,
  'runtime/uws-sockets.ts SocketsOfListener.behind': perSocket,
  'runtime/uws-sockets.ts UwsSocket.#behind': perSocket,
}

/** Rows that people can make without end, and that go with nothing else. */
const ROWS: Readonly<Record<string, Keeping>> = {
  'reviews of label rules': {
    bound: '200 in a day, for 90 days',
    reachedBy: [
      'functions/label-rules/label-rules.test.ts',
      'may lower the bar of newcomers so often in a day',
    ],
  },
}

/**
 * Collections that live for one call, one job or one document, within the limits of its input, or are filled at the
 * start only.
 */
const SHORT_LIVED: readonly string[] = [
  'lib/campaigns/plan/groups.ts ChangeGroups.#keys',
  'lib/overview/destinations.ts Found.failing',
  'lib/overview/destinations.ts Found.of',
  'lib/overview/destinations.ts Found.signals',
  'lib/campaigns/judge/judge.ts CampaignJudge.#bases',
  'lib/campaigns/judge/judge.ts CampaignJudge.#checks',
  'lib/campaigns/judge/judge.ts CampaignJudge.#policies',
  'lib/campaigns/judge/judge.ts CampaignJudge.#results',
  'lib/campaigns/judge/scope.ts openNames().whole',
  'lib/campaigns/judge/scope.ts openScope().left',
  'lib/campaigns/judge/scope.ts openScope().named',
  'lib/campaigns/run/start-step.ts startThese().ends',
  'lib/campaigns/run/start-targets.ts startTargets().alone',
  'lib/campaigns/run/start-targets.ts startTargets().outcomes',
  'lib/campaigns/run/start-targets.ts startTargets().together',
  'lib/configs/patch/rename.ts Renamer.otherMatches',
  'lib/configs/render/render.ts Filler.used',
  'lib/model/patterns.ts Reader.#characters',
  'lib/audit/database.ts OpenAct.#records',
  'lib/audit/database.ts OpenAct.#behind',
  'lib/audit/database.ts OpenAct.#tells',
  'lib/configs/check/pipeline-structure.ts PipelineCheck.#findings',
  'lib/configs/check/structure.ts StructureCheck.#findings',
  'lib/configs/diff/model.ts ComparedConfig.parts',
  'lib/configs/diff/model.ts ComparedConfig.pipelines',
  'lib/configs/migrate/draft.ts MigrationDraft.#redacted',
  'lib/configs/migrate/draft.ts MigrationDraft.#attributes',
  'lib/configs/migrate/draft.ts MigrationDraft.#receivers',
  'lib/configs/migrate/secrets.ts KnownSecrets.#values',
  'lib/configs/yaml/parse.ts Converter.#anchors',
  'lib/fleet/state/load-push.ts LoadedAssignments.quarantinedInstances',
  'lib/campaigns/run/halt-holds.ts HaltNow.passed',
  'lib/campaigns/run/run.ts RunCounts.waves',
  'lib/fleet/state/derive.ts Derived.sick',
  'lib/fleet/state/derive.ts Derived.sicker',
  'lib/fleet/state/derive.ts Derived.workloads',
  'lib/fleet/state/waiting-rows.ts Batch.configs',
  'lib/fleet/state/waiting-rows.ts Batch.events',
  'lib/fleet/state/waiting-rows.ts Batch.forgotten',
  'lib/fleet/state/waiting-rows.ts Batch.homes',
  'lib/fleet/state/waiting-rows.ts Batch.pushes',
  'lib/fleet/state/waiting-rows.ts Batch.quarantines',
  'lib/fleet/state/waiting-rows.ts Batch.seen',
  'lib/fleet/state/waiting-rows.ts Batch.targets',
  'lib/fleet/state/waiting-rows.ts Batch.unhealthy',
  'lib/fleet/state/waiting-rows.ts Batch.workloads',
  'lib/links/frames.ts Batch.entries',
  'lib/opamp/read-description.ts DescriptionAttributes.identifying',
  'lib/opamp/read-description.ts DescriptionAttributes.nonIdentifying',
  'lib/opamp/read-health.ts module NO_CHILDREN',
  'lib/reports/gather.ts Pages.all',
  'lib/reports/pdf-canvas.ts Font.glyphs',
  'lib/reports/pdf-canvas.ts Font.texts',
  'lib/reports/pdf-canvas.ts PdfCanvas.#fonts',
  'lib/reports/pdf-canvas.ts PdfCanvas.#pending',
  'lib/wire/structs.ts module BOUNDS',
  'lib/wire/structs.ts module NAMES',
  'lib/wire/structs.ts module NOTES',
  'runtime/config.ts Reader.warnings',
  'runtime/editions.ts createEdition().enabled',
  'runtime/fronts/member.ts Member.#migrations',
  'runtime/openapi.ts buildOpenApi().tags',
  'runtime/router.ts createRouter().byPath',
]

const KEEPER = String.raw`new (?:Map|Set|WeakMap|WeakSet)\b|\[\]`
const TYPE = String.raw`(?:Map|Set|WeakMap|WeakSet)<|[\w<>, |]+\[\]`
/** Where interfaces are of what the process holds: there lists are looked at as well, but for those that nobody can add to. */
const HOLDERS = /^lib\/(?:auto-apply|campaigns\/run|cluster|fleet|hub|links|opamp|workers)\//
const LIST = /^ {2}(?:readonly )?(\w+)\??: (?!readonly )[\w<>, |'"]+\[\](?: \| (?:null|undefined))*$/
/** Names of functions whose variables outlive the call. */
const MAKERS = /^(?:open|create|start|serve|listen|build|remember|connect)(?:[A-Z]|$)/

/**
 * Every such collection of one file: fields of classes and interfaces, variables of makers, variables of the module.
 */
function keepingsOf(path: string, source: string): string[] {
  const found: string[] = []
  let kind = ''
  let owner = ''
  for (const line of source.split('\n')) {
    const top = /^(?:export )?(?:async )?(class|function|interface) (\w+)/.exec(line)
    if (top !== null) [, kind = '', owner = ''] = top
    const ofModule =
      /^(?:export )?(?:const|let) (\w+)[^=]*= new (?:Map|Set|WeakMap|WeakSet)\b(?:<.*>)?\(\)/.exec(line)
    if (ofModule !== null) found.push(`${path} module ${ofModule[1]}`)
    if (kind === 'class') {
      const made = new RegExp(String.raw`^  (?:readonly )?(#?\w+)(?:: .+?)? = (?:${KEEPER})`).exec(line)
      const typed = new RegExp(String.raw`^  (?:readonly )?(#?\w+): (?:${TYPE})[^()]*$`).exec(line)
      const name = made?.[1] ?? (typed?.[1]?.startsWith('#') ? typed[1] : undefined)
      if (name !== undefined) found.push(`${path} ${owner}.${name}`)
    } else if (kind === 'interface') {
      const typed =
        /^ {2}(?:readonly )?(\w+)\??: (?:Map|Set|WeakMap|WeakSet)</.exec(line) ??
        (HOLDERS.test(path) ? LIST.exec(line) : null)
      if (typed !== null) found.push(`${path} ${owner}.${typed[1]}`)
    } else if (kind === 'function' && MAKERS.test(owner)) {
      const made = new RegExp(String.raw`^  (?:const|let) (\w+)(?:: .+?)? = (?:${KEEPER})`).exec(line)
      if (made !== null) found.push(`${path} ${owner}().${made[1]}`)
    }
  }
  return found
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return sourcesBelow(path)
    return path.endsWith('.ts') ? [path] : []
  })
}

const APART = /^runtime\/(?:ui|quickstart|build)\//
const found = ['lib', 'runtime', 'functions']
  .flatMap(sourcesBelow)
  .filter((path) => !APART.test(path))
  .flatMap((path) => keepingsOf(path, readFileSync(join(ROOT, path), 'utf8')))

describe('what the service keeps', () => {
  it('is listed, all of it, and nothing that is no longer there', () => {
    expect([...Object.keys(KEPT), ...SHORT_LIVED].sort()).toEqual([...new Set(found)].sort())
  })

  it.each(Object.entries({ ...KEPT, ...ROWS }))(
    '%s reaches its bound in a test',
    (_, { bound, reachedBy: [file, name] }) => {
      expect(bound).not.toBe('')
      expect(readFileSync(join(ROOT, 'test', file), 'utf8')).toContain(name)
    },
  )

  it('is found wherever it is made', () => {
    const source = [
      'const all = new Map<string, Map<string, number>>()',
      'class Thing {',
      '  readonly #a = new Map<string, number>()',
      '  #b: ((x: Error) => void)[] = []',
      '  readonly #c: WeakSet<object>',
      '  d: Set<string> | null = null',
      '}',
      'export interface Shape {',
      '  readonly e: Set<string>',
      '  all?: string[] | undefined',
      '  readonly fixed: readonly string[]',
      '}',
      'export function openThing(): Thing {',
      '  const f = new Set<string>()',
      '}',
      'function judge(): void {',
      '  const g = new Set<string>()',
      '}',
    ].join('\n')
    const kept = ['module all', 'Thing.#a', 'Thing.#b', 'Thing.#c', 'Shape.e', 'openThing().f']
    expect(keepingsOf('x', source)).toEqual(kept.map((name) => `x ${name}`))
    expect(keepingsOf('lib/fleet/x.ts', source)).toContain('lib/fleet/x.ts Shape.all')
  })
})
