import type { MissedState } from '../../../lib/model/target-states.ts'
import type {
  CampaignGate,
  CampaignReason,
  CampaignStatus,
  CampaignTargetState,
  CampaignVerdict,
} from '../../../lib/wire/campaigns.ts'
import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber
const workloadsEn = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`
const workloadsFr = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts of campaigns. */
export const campaignTexts = defineTexts({
  en: {
    title: 'Campaigns',
    reaches: (count: number, production: number) =>
      production === 0
        ? workloadsEn(count)
        : `${workloadsEn(count)}, ${production === count ? 'all' : n(production)} of production`,
    lead: 'One change, carried to many workloads: planned, approved as planned, in waves behind limits.',
    none: 'No campaign yet. A campaign carries one change to many workloads.',
    create: 'New campaign',
    name: 'Name',
    description: 'What for',
    kind: 'Change',
    kinds: { text: 'One config for all of them', patch: 'A patch of the config that each has' },
    config: 'Config',
    patch: 'Patch, as JSON',
    patchHint:
      'For example {"merge": {"exporters": {"otlp": {"timeout": "10s"}}}}. Also: remove, expect, rename_component, pipeline.',
    takeover: 'Also take over workloads that muster never pushed to; there is no way back for them',
    scope: 'For whom',
    named: (count: number) => `${workloadsEn(count)} chosen in the fleet`,
    save: 'Save and plan',
    plan: 'Plan',
    replan: 'Plan again',
    planning: (done: number, total: number) => `Planning: ${n(done)} of ${workloadsEn(total)}.`,
    noPlan: 'Not planned yet.',
    plannedAt: 'As of',
    column: {
      name: 'Campaign',
      state: 'State',
      progress: 'Progress',
      by: 'By',
      created: 'Created',
      workload: 'Workload',
      wave: 'Wave',
      verdict: 'Plan',
      why: 'Why',
      since: 'Since',
      instances: 'Instances',
    },
    state: {
      left_out: 'left out',
      waiting: 'waiting',
      offline: 'away',
      started: 'being applied',
      applied: 'applied',
      failed: 'failed',
      no_answer: 'no answer',
      overtaken: 'overtaken by another change',
      skipped: 'skipped',
      expired: 'did not come back in time',
      cancelled: 'not started',
      rolling_back: 'being rolled back',
      rolled_back: 'rolled back',
      rollback_failed: 'could not be rolled back',
      moved_on: 'on something newer',
      left_scope: 'left the scope',
      no_way_back: 'nothing to go back to',
    } as Record<CampaignTargetState, string>,
    backInPart: 'rolled back in part',
    back: 'back, waits',
    stageWaits: (why: string) =>
      `Some of its instances have it, the others wait: ${why}. They get it by themselves once that is over. Until then abort the campaign, which leaves it as it is, or roll it back.`,
    stageGivesUp: (why: string) =>
      `Some of its instances have it, the others wait: ${why}. They get it by themselves where that is over within ten minutes. Otherwise it is skipped then, and left as it is.`,
    waitsForTurn: 'It is connected again, and gets the change at its turn.',
    overtakes: (name: string | null) =>
      `${name === null ? 'An older campaign' : `The older campaign “${name}”`} waits for it as well: it gets this change only, and not that one.`,
    waitsFor: (name: string | null, isBack: boolean) => {
      const newer = name === null ? 'a newer campaign' : `the newer campaign “${name}”`
      return isBack
        ? `It is connected again, and waits: ${newer} comes to it first. Once that has come, this change stays out.`
        : `When it is back it gets what ${newer} brings, and not this change.`
    },
    verdict: {
      changes: 'changes',
      same: 'runs it already',
      offline: 'away, catches up',
      unmanaged: 'never pushed to',
      held: 'held',
      quarantined: 'has failed this config',
      excluded: 'left out by name',
      refused: 'refused',
    } as Record<CampaignVerdict, string>,
    reason: {
      approved_for_less:
        'the config before it was approved there by less than is asked now: no token brings it back, somebody who is signed in may',
      archived: 'archived',
      base_content_gone: 'its config is not kept any more',
      base_moved: 'its config has changed since the plan',
      base_not_approved:
        'nobody ever approved the config before it: the glass was broken for it, and nobody has accepted that',
      became_production: 'it became production since the plan',
      busy: 'another push is under way there',
      component_missing: 'a component is not installed',
      frozen: 'frozen',
      held: 'held',
      invalid: 'the config is not valid there',
      kept_in_git: 'its config is kept in Git',
      nobody_reports: 'none of its many instances can say what became of a config',
      not_selected: 'it is not meant any more',
      not_under_fleet_config: 'it is not under this fleet config',
      overtaken: 'while it was away, a later campaign or a roll-back overtook this change',
      patch_base_invalid: 'its config cannot be read',
      patch_does_not_fit: 'the patch does not fit',
      patch_mismatch: 'the patch would touch something else there',
      policy_blocked: 'blocked by policy',
      quarantined: 'this config has failed there',
      read_only: 'takes no config',
      result_changed: 'the result would be another one than planned',
      under_fleet_config: 'it is under a fleet config',
      unreadable: 'could not be read in time',
      variable_invalid: 'a variable has a value that does not fit',
      variable_missing: 'a variable has no value',
      variables_changed:
        'its own values were set after this was requested, or one of its values was set or chosen by who approved: a campaign brings them',
      version_gone: 'this version of the fleet config does not exist',
      workload_gone: 'it is gone',
    } as Record<CampaignReason, string>,
    numbers: {
      targets: 'Workloads that change',
      instances: 'Instances that restart',
      production: 'Of production',
      unwell: 'Not well now',
      failingThere: 'Sends to what others cannot reach',
      away: 'Away, catch up later',
      noWayBack: 'Without a way back',
      componentsUnknown: 'Do not say what they were built with: components not checked',
      componentsMissing: 'Refused, for this is not installed there',
      outside: 'Left out: outside of the author’s scope',
      leftOut: 'Left out',
      environments: 'Environments',
      clusters: 'Clusters',
    },
    likeProduction: (production: number, count: number) =>
      `${n(production)} · ${n(count)} without a trusted label, approved as production`,
    failingThere: (address: string, who: string, more: number, why: string) =>
      `${address} (${who}${more > 0 ? ` and ${n(more)} more` : ''}${why && `: ${why}`})`,
    unwellOf: (count: number, all: number, who: string) => `${n(count)} of ${n(all)}${who && `: ${who}`}`,
    unfitRefuses: 'Let nobody ask for it where the patch does not fit one of them',
    otherMatches: 'Named like what is renamed, and left as it is:',
    groups: 'What changes',
    group: (count: number, all: number) => `${workloadsEn(count)} of ${n(all)}, such as`,
    groupProduction: (count: number) => `${n(count)} in production`,
    moreGroups: (count: number) => `Groups with ${workloadsEn(count)} are not shown yet.`,
    moreValues: (count: number) => `${n(count)} more ${plural(count, 'value', 'values')} not shown.`,
    moreLines: (count: number) =>
      `The diff goes on: ${n(count)} more ${plural(count, 'line', 'lines')} not shown.`,
    linesOf: (name: string) => `diff of ${name}`,
    sameText: 'They run this text already.',
    againstReported:
      'Nothing was ever pushed to these workloads, or nothing of it stayed. They are compared with what their instances report to run. The push takes that over: it is replaced whole.',
    againstNothing:
      'Nothing was ever pushed to these workloads, or nothing of it stayed, and what their instances report is not known. They are compared with nothing: what they lose is not shown.',
    ownValue: 'own value',
    each: (count: number) => `${n(count)} each`,
    chosenBy: (what: string) => `by ${what}`,
    moreChoices: (count: number) => `and ${n(count)} more`,
    noDiff: 'No diff is shown: the text is not kept any more, or comparing it takes too long.',
    went: 'How it went',
    reached: (percentage: number) => (percentage === 100 ? 'All run it' : `${n(percentage)} % run it`),
    after: (duration: string) => `after ${duration}`,
    notYet: 'not so far',
    never: 'never',
    missed: 'Where it did not work, by cause',
    missedSuch: (names: string, more: number) => (more > 0 ? `${names} and ${n(more)} more` : names),
    waves: 'Waves',
    wave: (number: number) => `Wave ${n(number)}`,
    waveSize: (count: number, production: number) =>
      production > 0 ? `${workloadsEn(count)}, ${n(production)} of production` : workloadsEn(count),
    watchedFor: (text: string) => `then watched for ${text}`,
    targets: 'Workloads',
    everyone: 'all',
    show: { all: 'all', open: 'open', over: 'over', failures: 'with failures' },
    showLabel: 'Which campaigns',
    seeFailed: 'See what failed',
    seePush: 'See its push',
    ofVersion: (name: string, number: number) => `${name}, version ${n(number)}`,
    noneSuch: 'No campaign like that.',
    readMax: (count: number) => `The worst ${n(count)} are shown; choose a state to see others.`,
    sentence: {
      draft: 'Plan it to see what it would do. Nothing changes by that.',
      planned: 'Nothing changes before this plan is approved and started.',
      requested: 'The plan waits for somebody to approve it.',
      approved: 'The plan is approved. Nothing has been started yet.',
      lapsed: 'The plan was approved, and an approval counts no more: somebody has to approve it again.',
      paused: 'What was started comes to its end, and nothing else is started.',
      aborted: 'What was done stays. Roll it back, or plan another campaign for the rest.',
      rolling_back: 'Every workload that still runs what this brought gets its former config.',
      rolled_back: 'Rolled back wherever it still ran.',
      rejected: 'Rejected.',
      withdrawn: 'Withdrawn.',
      expired: 'Nobody went on with it in time.',
    },
    doneAll: (applied: number, all: number) =>
      applied < all
        ? `Done: ${n(applied)} of ${workloadsEn(all)} ${plural(applied, 'runs', 'run')} it.`
        : `Done: ${all === 1 ? 'its one workload runs it' : `all ${workloadsEn(all)} run it`}.`,
    doneBut: (applied: number, all: number) =>
      `Done, but not everywhere: ${n(applied)} of ${workloadsEn(all)} ${plural(applied, 'runs', 'run')} it.`,
    donePart: (workloads: number, all: number, instances: number) =>
      `Done, but on ${n(workloads)} of ${workloadsEn(all)} not everywhere: ${n(instances)} of their instances failed it or did not answer`,
    openPart: (workloads: number, instances: number) =>
      `${workloadsEn(workloads)} ${plural(workloads, 'has', 'have')} been getting it for more than a minute, and ${n(instances)} of ${plural(workloads, 'its', 'their')} instances ${plural(instances, 'has', 'have')} not applied it so far`,
    openUntil: (time: string) => `They are waited for until ${time} at the latest.`,
    reach: (applied: number, all: number, failed: number, silent: number, why: string) =>
      [
        `${n(applied)} of ${n(all)} ${plural(all, 'instance', 'instances')} ${plural(applied, 'has', 'have')} it`,
        ...(silent > 0 ? [`${n(silent)} did not answer`] : []),
        ...(failed > 0 ? [`${n(failed)} failed it${why && `: ${why}`}`] : []),
      ].join(', '),
    appliedInPart: 'applied in part',
    appliedUnwell: 'applied, unhealthy since',
    becameUnhealthy: (count: number, who: string) =>
      `${workloadsEn(count)} became unhealthy since ${plural(count, 'it has', 'they have')} it${who && `: ${who}`}.`,
    mayBecome: (limit: number) =>
      limit === 0 ? 'None may: it halts.' : `At most ${n(limit)} may; with one more it halts.`,
    reachedPart: 'All have it, some in part',
    doneButNext: 'Bring these a config that works for them, by a change or a campaign of their own.',
    missing: {
      failed: (count: number) => `${workloadsEn(count)} failed`,
      no_answer: (count: number) => `${workloadsEn(count)} did not answer`,
      skipped: (count: number) => `${workloadsEn(count)} ${plural(count, 'was', 'were')} skipped`,
      expired: (count: number) => `${workloadsEn(count)} did not come back in time`,
      rollback_failed: (count: number) => `${workloadsEn(count)} could not be rolled back`,
      no_way_back: (count: number) =>
        `${workloadsEn(count)} ${plural(count, 'has', 'have')} nothing to go back to`,
      left_scope: (count: number) => `${workloadsEn(count)} had left its scope`,
    } satisfies Record<MissedState, (count: number) => string>,
    missingWho: (what: string, who: string) => `${what}: ${who}.`,
    running: (wave: number, waves: number, applied: number, all: number, failed: number) =>
      `Wave ${n(wave)} of ${n(waves)}: ${n(applied)} of ${workloadsEn(all)} ${plural(applied, 'runs', 'run')} it${failed > 0 ? `, ${n(failed)} failed or did not answer` : ''}.`,
    waitsFreeze: (wave: number, waves: number, until: string, why: string) =>
      `Wave ${n(wave)} of ${n(waves)} waits for the end of the freeze (${until}, ${why}).`,
    waitsWindow: (wave: number, waves: number) =>
      `Wave ${n(wave)} of ${n(waves)} waits for the next window in which it may start workloads.`,
    frozenFor: (why: string) => `Frozen (${why}): it is started once that is over.`,
    saidBy: (who: string, comment: string) => `${who}: ${comment}`,
    busyWith: 'Another push of it is open: it is started once that has ended.',
    notBegun: {
      halted: 'Not begun: the campaign is halted.',
      paused: 'Not begun: the campaign is paused.',
    } as Partial<Record<CampaignStatus, string>>,
    leavesOut: (list: string) => `It leaves out: ${list}.`,
    adoptFirst: 'Adopt those that muster never pushed to: then it can change them.',
    watching: (wave: number, left: string) => `Wave ${n(wave)} is done and watched for ${left} more.`,
    takenBack: (count: number, all: number) => `${n(count)} of ${n(all)} rolled back`,
    away: (count: number) => `${workloadsEn(count)} away; they catch up when they are back.`,
    halt: {
      failed: (value: number, limit: number, wave: number) =>
        `Halted in wave ${n(wave)}: ${workloadsEn(value)} failed, at most ${n(limit)} may.`,
      unhealthy: (value: number, limit: number, wave: number) =>
        `Halted in wave ${n(wave)}: ${workloadsEn(value)} became unhealthy, at most ${n(limit)} may.`,
      drifted: (value: number, limit: number, wave: number) =>
        `Halted in wave ${n(wave)}: ${workloadsEn(value)} applied it and run something else since, at most ${n(limit)} may.`,
      silent: (value: number, limit: number, wave: number) =>
        `Halted in wave ${n(wave)}: ${workloadsEn(value)} skipped or without an answer, at most ${n(limit)} may be.`,
      policy_changed: () => 'Halted: the config policy is another one than that of the plan.',
      approver_gone: () => 'Halted: whoever approved it may not approve any more.',
    } as Record<CampaignGate, (value: number, limit: number, wave: number) => string>,
    failedSince: (parts: string) => `Of those that failed: ${parts}.`,
    failedAs: {
      went_back: (count: number) => `${n(count)} went back`,
      going_back: (count: number) => `${n(count)} ${plural(count, 'is', 'are')} going back`,
      went_back_in_part: (count: number) => `${n(count)} went back in part`,
      rollback_failed: (count: number) => `${n(count)} could not go back either`,
      nowhere_to_go: (count: number) => `${n(count)} had nothing to go back to`,
      overtaken: (count: number) => `${n(count)} got another push since`,
    },
    failedNoneBack:
      'None of those that failed could go back: they may run nothing that works until another config reaches them.',
    failedStuck: (count: number) =>
      `${n(count)} of them may run nothing that works: only another config helps ${plural(count, 'it', 'them')}.`,
    haltCause: (title: string, count: number, isAll: boolean) =>
      `${count === 1 ? 'Cause' : isAll ? 'All of them' : 'Most of them'}: ${title}.`,
    haltMore: (more: number) => `${n(more)} more`,
    byItself: 'Got this version by itself',
    byItselfBack: (count: number, withoutBase: number) =>
      [
        count > withoutBase &&
          `${workloadsEn(count - withoutBase)} outside of this campaign got its version by itself and ${plural(count - withoutBase, 'is', 'are')} rolled back as well.`,
        withoutBase > 0 &&
          `${workloadsEn(withoutBase)} got its version by itself as the first config, and ${plural(withoutBase, 'keeps', 'keep')} it.`,
      ]
        .filter(Boolean)
        .join(' '),
    keptLead: (count: number) =>
      `${workloadsEn(count)} ${plural(count, 'is', 'are')} still to run it. Bring ${plural(count, 'it', 'them')} another version.`,
    keptNewcomer: 'came after its approval',
    keptOlder: 'was on an older version',
    keptNoBase: 'no config to go back to is known',
    keptChange: (count: number) => `Change ${plural(count, 'this one', `these ${n(count)}`)}…`,
    pausedAt: (reached: string) => `Paused: ${reached}.`,
    closed: {
      rolled_back: (by: string) => `Rolled back${by}.`,
      aborted: (by: string) => `Aborted${by}.`,
    },
    closedFrom: (who: string, ago: string, why: string) => ` by ${who} (${ago})${why && `: “${why}”`}`,
    haltNobodyLeft: (holds: boolean) =>
      `No workload is left to be changed: continue${holds ? ' with a higher limit' : ''} to end it as done, abort, or roll it back.`,
    haltNobodyLeftStay: (holds: boolean) =>
      `No workload is left to be changed, and none that runs it has a former config: continue${holds ? ' with a higher limit' : ''} to end it as done, or abort.`,
    haltNext: 'Look at its workloads, then continue, abort, or roll it back.',
    haltLapseNext:
      'It goes on only once that is as it was: then continue. Else abort it and ask anew, or roll it back.',
    haltLapseOver: 'That is as it was again: continue, abort, or roll it back.',
    haltRaiseNext: 'It would halt again as it is: continue with a higher limit, abort, or roll it back.',
    raiseNeeded: (limit: string, value: number) =>
      `It would halt again at once. ${limit}: at least ${n(value)}.`,
    comesToEnd: 'No workload is left to be changed: it would come to its end, and be done.',
    stagesWait:
      'Where a workload halted amid its stages, let these go on from its page once the campaign does.',
    step: {
      request: 'Ask for approval',
      approve: 'Approve',
      reject: 'Reject',
      withdraw: 'Withdraw',
      start: 'Start',
      pause: 'Pause',
      continue: 'Continue',
      abort: 'Abort',
      'roll-back': 'Roll back',
    },
    hint: {
      request: 'Neither the plan nor what it was made of changes from then on.',
      approve: 'You approve this plan, with every workload and every wave in it, and nothing else.',
      reject: 'Say why; whoever asked reads it.',
      withdraw: 'Nothing has been started.',
      start: 'The first wave starts at once.',
      pause: 'What was started comes to its end; nothing else is started.',
      continue: 'It goes on where it stopped. Raise a limit here, with a comment, where it would stop again.',
      abort: 'Nothing more is started, for good. What was done stays.',
      'roll-back':
        'Every workload that still runs what this brought gets its former config, without an approval.',
    },
    undoneBack: {
      goes_back: (count: number) =>
        count === 0
          ? 'No workload goes back'
          : `${workloadsEn(count)} ${plural(count, 'goes', 'go')} back to ${plural(count, 'its', 'their')} former config`,
      no_way_back: (count: number) =>
        `${n(count)} ${plural(count, 'has', 'have')} no former config and ${plural(count, 'keeps', 'keep')} what it brought`,
      moved_on: (count: number) =>
        `${n(count)} ${plural(count, 'is', 'are')} to run something else by now and ${plural(count, 'is', 'are')} left alone`,
      left_scope: (count: number) =>
        `${n(count)} ${plural(count, 'has left its scope and is', 'have left its scope and are')} left alone`,
    },
    broughtBack: {
      rolled_back: (count: number, all: number) =>
        count === 0
          ? 'Nothing was rolled back'
          : `${n(count)} of ${workloadsEn(all)} ${plural(count, 'has its', 'have their')} former config again`,
      no_way_back: (count: number) =>
        `${n(count)} had no former config and ${plural(count, 'keeps', 'keep')} what it brought`,
      rollback_failed: (count: number) => `${n(count)} could not be rolled back`,
      moved_on: (count: number) =>
        `${n(count)} ${plural(count, 'was', 'were')} to run something else by then`,
      left_scope: (count: number) =>
        `${n(count)} had left its scope and ${plural(count, 'was', 'were')} left alone`,
    },
    haltLapseNextStay:
      'It goes on only once that is as it was: then continue. Else abort it and ask anew. It cannot be rolled back: no workload that runs it has a former config.',
    haltLapseOverStay:
      'That is as it was again: continue or abort. It cannot be rolled back: no workload that runs it has a former config.',
    haltNextStay:
      'Look at its workloads, then continue or abort. It cannot be rolled back: no workload that runs it has a former config.',
    haltRaiseNextStay:
      'It would halt again as it is: continue with a higher limit, or abort. It cannot be rolled back: no workload that runs it has a former config.',
    undoneStay: (applied: number, left: number) =>
      `${applied === 0 ? 'No workload has' : `${workloadsEn(applied)} ${plural(applied, 'keeps', 'keep')}`} it${left > 0 ? `; ${n(left)} that it has not reached ${plural(left, 'stays as it is', 'stay as they are')}` : ''}.`,
    goesTo: (count: number, instances: number, environments: string) =>
      `${workloadsEn(count)} with ${n(instances)} ${plural(instances, 'instance', 'instances')}${environments === '' ? '' : ` in ${environments}`}`,
    goesProduction: (count: number) => `${n(count)} of production`,
    goesNoWayBack: (count: number) => `${n(count)} without a config to go back to`,
    goesFirst: (count: number, waves: number) =>
      waves === 1 ? 'all in one wave' : `${n(count)} in the first of ${n(waves)} waves`,
    tickProduction: 'Say that you know of production',
    comment: 'Comment',
    limitNow: (limit: number | null) =>
      limit === null ? 'Empty: as it is.' : `Empty: as it is, ${n(limit)}.`,
    confirmProduction: (count: number) => `Yes, ${workloadsEn(count)} of production are among them`,
    told: {
      request: 'Asked for approval.',
      approve: 'Approved.',
      reject: 'Rejected.',
      withdraw: 'Withdrawn.',
      start: 'Started.',
      pause: 'Paused.',
      continue: 'Goes on.',
      abort: 'Aborted.',
      'roll-back': 'Being rolled back.',
    },
    approvedBy: 'Approved by',
    commentBy: 'Said by',
    commentStep: 'Comment',
    commentHint: 'It decides nothing. Whoever approves or starts it reads it.',
    commentTold: 'Said. It still waits.',
    commentToldApproved: 'Said. It is approved all the same, and whoever starts it is shown this.',
    requestedBy: 'Asked for by',
    startedBy: 'Started by',
    closedBy: 'Ended by',
    who: 'Who',
  },
  fr: {
    title: 'Campagnes',
    reaches: (count: number, production: number) =>
      production === 0
        ? workloadsFr(count)
        : `${workloadsFr(count)}, ${production === count ? 'tous' : n(production)} de production`,
    lead: 'Une modification, portée à plusieurs workloads : planifiée, approuvée telle quelle, par vagues et sous limites.',
    none: 'Aucune campagne. Une campagne porte une modification à plusieurs workloads.',
    create: 'Nouvelle campagne',
    name: 'Nom',
    description: 'Pourquoi',
    kind: 'Modification',
    kinds: { text: 'Une configuration pour tous', patch: 'Un correctif de la configuration de chacun' },
    config: 'Configuration',
    patch: 'Correctif, en JSON',
    patchHint:
      'Par exemple {"merge": {"exporters": {"otlp": {"timeout": "10s"}}}}. Aussi : remove, expect, rename_component, pipeline.',
    takeover: 'Reprendre aussi les workloads que muster n’a jamais configurés ; sans retour possible',
    scope: 'Pour qui',
    named: (count: number) => `${workloadsFr(count)} choisis dans le parc`,
    save: 'Enregistrer et planifier',
    plan: 'Planifier',
    replan: 'Planifier de nouveau',
    planning: (done: number, total: number) => `Planification : ${n(done)} sur ${workloadsFr(total)}.`,
    noPlan: 'Pas encore planifiée.',
    plannedAt: 'État du',
    column: {
      name: 'Campagne',
      state: 'État',
      progress: 'Avancement',
      by: 'Par',
      created: 'Créée',
      workload: 'Workload',
      wave: 'Vague',
      verdict: 'Plan',
      why: 'Pourquoi',
      since: 'Depuis',
      instances: 'Instances',
    },
    state: {
      left_out: 'laissé de côté',
      waiting: 'en attente',
      offline: 'absent',
      started: 'en cours d’application',
      applied: 'appliqué',
      failed: 'en échec',
      no_answer: 'sans réponse',
      overtaken: 'dépassé par un autre changement',
      skipped: 'sauté',
      expired: 'pas revenu à temps',
      cancelled: 'pas commencé',
      rolling_back: 'retour en cours',
      rolled_back: 'retour fait',
      rollback_failed: 'retour échoué',
      moved_on: 'passé à plus récent',
      left_scope: 'sorti de la portée',
      no_way_back: 'sans retour possible',
    } as Record<CampaignTargetState, string>,
    backInPart: 'retour fait en partie',
    back: 'de retour, attend',
    stageWaits: (why: string) =>
      `Une partie de ses instances l’a, les autres attendent : ${why}. Elles le reçoivent d’elles-mêmes une fois cela passé. D’ici là, abandonnez la campagne, ce qui le laisse en l’état, ou revenez en arrière.`,
    stageGivesUp: (why: string) =>
      `Une partie de ses instances l’a, les autres attendent : ${why}. Elles le reçoivent d’elles-mêmes si cela passe en dix minutes. Sinon il est alors sauté, et laissé en l’état.`,
    waitsForTurn: 'Il est de nouveau connecté, et reçoit le changement à son tour.',
    overtakes: (name: string | null) =>
      `${name === null ? 'Une campagne plus ancienne' : `La campagne plus ancienne « ${name} »`} l’attend aussi : il reçoit ce changement seul, et non l’autre.`,
    waitsFor: (name: string | null, isBack: boolean) => {
      const newer = name === null ? 'une campagne plus récente' : `la campagne plus récente « ${name} »`
      return isBack
        ? `Il est de nouveau connecté, et attend : ${newer} vient d’abord. Une fois passée, ce changement ne vient plus.`
        : `À son retour il reçoit ce qu’apporte ${newer}, et non ce changement.`
    },
    verdict: {
      changes: 'change',
      same: 'l’exécute déjà',
      offline: 'absent, rattrapera',
      unmanaged: 'jamais configuré par muster',
      held: 'retenu',
      quarantined: 'a échoué avec cette configuration',
      excluded: 'laissé de côté par son nom',
      refused: 'refusé',
    } as Record<CampaignVerdict, string>,
    reason: {
      approved_for_less:
        'la configuration précédente y a été approuvée par moins que ce qui est demandé aujourd’hui : aucun jeton ne la rétablit, une personne connectée le peut',
      archived: 'archivé',
      base_content_gone: 'sa configuration n’est plus conservée',
      base_moved: 'sa configuration a changé depuis le plan',
      base_not_approved:
        'personne n’a approuvé la configuration précédente : elle est venue par bris de glace, que personne n’a accepté',
      became_production: 'il est passé en production depuis le plan',
      busy: 'un autre envoi y est en cours',
      component_missing: 'un composant n’est pas installé',
      frozen: 'gelé',
      held: 'retenu',
      invalid: 'la configuration n’y est pas valide',
      kept_in_git: 'sa configuration est tenue dans Git',
      nobody_reports: 'aucune de ses nombreuses instances ne peut dire ce que devient une configuration',
      not_selected: 'il n’est plus visé',
      not_under_fleet_config: 'il ne suit pas cette config de parc',
      overtaken: 'pendant son absence, une campagne ultérieure ou un retour arrière a dépassé ce changement',
      patch_base_invalid: 'sa configuration est illisible',
      patch_does_not_fit: 'le correctif ne convient pas',
      patch_mismatch: 'le correctif y toucherait à autre chose',
      policy_blocked: 'bloqué par la politique',
      quarantined: 'cette configuration y a échoué',
      read_only: 'n’accepte pas de configuration',
      result_changed: 'le résultat différerait du plan',
      under_fleet_config: 'il suit une config de parc',
      unreadable: 'n’a pas pu être lu à temps',
      variable_invalid: 'une variable a une valeur qui ne convient pas',
      variable_missing: 'une variable n’a pas de valeur',
      variables_changed:
        'ses propres valeurs ont été fixées après la demande, ou l’une de ses valeurs fixée ou choisie par qui a approuvé : une campagne les apporte',
      version_gone: 'cette version de la config de parc n’existe pas',
      workload_gone: 'il n’existe plus',
    } as Record<CampaignReason, string>,
    numbers: {
      targets: 'Workloads qui changent',
      instances: 'Instances qui redémarrent',
      production: 'En production',
      unwell: 'En difficulté à présent',
      failingThere: 'Envoie là où d’autres échouent',
      away: 'Absents, rattraperont',
      noWayBack: 'Sans retour possible',
      componentsUnknown: 'Ne disent pas leurs composants : non vérifiés',
      componentsMissing: 'Refusés, car ceci n’y est pas installé',
      outside: 'Laissés de côté : hors du périmètre de l’auteur',
      leftOut: 'Laissés de côté',
      environments: 'Environnements',
      clusters: 'Clusters',
    },
    likeProduction: (production: number, count: number) =>
      `${n(production)} · ${n(count)} sans étiquette de confiance, ${plural(count, 'approuvé', 'approuvés')} comme la production`,
    failingThere: (address: string, who: string, more: number, why: string) =>
      `${address} (${who}${more > 0 ? ` et ${n(more)} de plus` : ''}${why && ` : ${why}`})`,
    unwellOf: (count: number, all: number, who: string) => `${n(count)} sur ${n(all)}${who && ` : ${who}`}`,
    unfitRefuses: 'Que personne ne puisse la demander si le correctif ne convient pas à l’un d’eux',
    otherMatches: 'Porte le même nom que ce qui est renommé, et reste tel quel :',
    groups: 'Ce qui change',
    group: (count: number, all: number) => `${workloadsFr(count)} sur ${n(all)}, comme`,
    groupProduction: (count: number) => `${n(count)} en production`,
    moreGroups: (count: number) => `Des groupes avec ${workloadsFr(count)} ne sont pas encore montrés.`,
    moreValues: (count: number) =>
      `${n(count)} ${plural(count, 'autre valeur', 'autres valeurs')} non ${plural(count, 'montrée', 'montrées')}.`,
    moreLines: (count: number) =>
      `Le diff continue : ${n(count)} ${plural(count, 'autre ligne', 'autres lignes')} non ${plural(count, 'montrée', 'montrées')}.`,
    linesOf: (name: string) => `diff de ${name}`,
    sameText: 'Ils exécutent déjà ce texte.',
    againstReported:
      'Rien n’a jamais été poussé vers ces workloads, ou rien n’en est resté. Ils sont comparés à ce que leurs instances disent exécuter. La poussée le reprend : tout y est remplacé.',
    againstNothing:
      'Rien n’a jamais été poussé vers ces workloads, ou rien n’en est resté, et ce que leurs instances disent exécuter n’est pas connu. Ils sont comparés à rien : ce qu’ils perdent n’est pas montré.',
    ownValue: 'valeur propre',
    each: (count: number) => `${n(count)} chacune`,
    chosenBy: (what: string) => `par ${what}`,
    moreChoices: (count: number) => `et ${n(count)} de plus`,
    noDiff:
      'Pas de différence affichée : le texte n’est plus conservé, ou la comparaison prend trop de temps.',
    went: 'Comment ça s’est passé',
    reached: (percentage: number) =>
      percentage === 100 ? 'Tous l’exécutent' : `${n(percentage)} % l’exécutent`,
    after: (duration: string) => `après ${duration}`,
    notYet: 'pas encore',
    never: 'jamais',
    missed: 'Là où elle n’a pas marché, par cause',
    missedSuch: (names: string, more: number) => (more > 0 ? `${names} et ${n(more)} autres` : names),
    waves: 'Vagues',
    wave: (number: number) => `Vague ${n(number)}`,
    waveSize: (count: number, production: number) =>
      production > 0 ? `${workloadsFr(count)}, dont ${n(production)} en production` : workloadsFr(count),
    watchedFor: (text: string) => `puis observée ${text}`,
    targets: 'Workloads',
    everyone: 'tous',
    show: { all: 'toutes', open: 'en cours', over: 'terminées', failures: 'avec des échecs' },
    showLabel: 'Quelles campagnes',
    seeFailed: 'Voir ce qui a échoué',
    seePush: 'Voir sa poussée',
    ofVersion: (name: string, number: number) => `${name}, version ${n(number)}`,
    noneSuch: 'Aucune campagne de ce genre.',
    readMax: (count: number) =>
      `Les ${n(count)} pires sont montrés ; choisissez un état pour voir les autres.`,
    sentence: {
      draft: 'Planifiez-la pour voir ce qu’elle ferait. Rien ne change ainsi.',
      planned: 'Rien ne change avant que ce plan soit approuvé et démarré.',
      requested: 'Le plan attend que quelqu’un l’approuve.',
      approved: 'Le plan est approuvé. Rien n’a encore été démarré.',
      lapsed:
        'Le plan était approuvé, mais une approbation ne compte plus : quelqu’un doit l’approuver à nouveau.',
      paused: 'Ce qui a commencé se termine, et rien d’autre ne commence.',
      aborted: 'Ce qui est fait reste. Revenez en arrière, ou planifiez une autre campagne pour le reste.',
      rolling_back:
        'Chaque workload qui exécute encore ce qu’elle a apporté reçoit son ancienne configuration.',
      rolled_back: 'Retour en arrière fait partout où elle s’exécutait encore.',
      rejected: 'Rejetée.',
      withdrawn: 'Retirée.',
      expired: 'Personne ne l’a poursuivie à temps.',
    },
    doneAll: (applied: number, all: number) =>
      applied < all
        ? `Terminée : ${n(applied)} sur ${workloadsFr(all)} ${plural(applied, 'l’exécute', 'l’exécutent')}.`
        : `Terminée : ${all === 1 ? 'son seul workload l’exécute' : `les ${workloadsFr(all)} l’exécutent`}.`,
    doneBut: (applied: number, all: number) =>
      `Terminée, mais pas partout : ${n(applied)} sur ${workloadsFr(all)} ${plural(applied, 'l’exécute', 'l’exécutent')}.`,
    donePart: (workloads: number, all: number, instances: number) =>
      `Terminée, mais pas partout sur ${n(workloads)} de ${workloadsFr(all)} : ${n(instances)} de leurs instances ${plural(instances, 'a échoué ou n’a pas répondu', 'ont échoué ou n’ont pas répondu')}`,
    openPart: (workloads: number, instances: number) =>
      `${workloadsFr(workloads)} ${plural(workloads, 'la reçoit', 'la reçoivent')} depuis plus d’une minute, et ${n(instances)} de ${plural(workloads, 'ses', 'leurs')} instances ne ${plural(instances, 'l’a', 'l’ont')} pas encore appliquée`,
    openUntil: (time: string) => `Elles sont attendues jusqu’à ${time} au plus tard.`,
    reach: (applied: number, all: number, failed: number, silent: number, why: string) =>
      [
        `${n(applied)} ${plural(applied, 'instance', 'instances')} sur ${n(all)} ${plural(applied, 'l’a', 'l’ont')}`,
        ...(silent > 0 ? [`${n(silent)} sans réponse`] : []),
        ...(failed > 0 ? [`${n(failed)} en échec${why && ` : ${why}`}`] : []),
      ].join(', '),
    appliedInPart: 'appliqué en partie',
    appliedUnwell: 'appliqué, en défaut depuis',
    becameUnhealthy: (count: number, who: string) =>
      `${workloadsFr(count)} en défaut depuis ${plural(count, 'qu’il', 'qu’ils')} ${plural(count, 'l’a', 'l’ont')}${who && ` : ${who}`}.`,
    mayBecome: (limit: number) =>
      limit === 0
        ? 'Aucun n’est admis : elle s’arrête.'
        : `${n(limit)} au plus ${plural(limit, 'est admis', 'sont admis')} ; un de plus l’arrête.`,
    reachedPart: 'Tous l’ont, certains en partie',
    doneButNext:
      'Apportez à ceux-là une config qui leur convient, par une modification ou une campagne à eux.',
    missing: {
      failed: (count: number) => `${workloadsFr(count)} en échec`,
      no_answer: (count: number) => `${workloadsFr(count)} sans réponse`,
      skipped: (count: number) => `${workloadsFr(count)} ${plural(count, 'ignoré', 'ignorés')}`,
      expired: (count: number) =>
        `${workloadsFr(count)} ${plural(count, 'n’est pas revenu', 'ne sont pas revenus')} à temps`,
      rollback_failed: (count: number) =>
        `${workloadsFr(count)} ${plural(count, 'n’a pas pu revenir en arrière', 'n’ont pas pu revenir en arrière')}`,
      no_way_back: (count: number) => `${workloadsFr(count)} sans retour possible`,
      left_scope: (count: number) => `${workloadsFr(count)} ${plural(count, 'sorti', 'sortis')} de sa portée`,
    },
    missingWho: (what: string, who: string) => `${what} : ${who}.`,
    running: (wave: number, waves: number, applied: number, all: number, failed: number) =>
      `Vague ${n(wave)} sur ${n(waves)} : ${n(applied)} sur ${workloadsFr(all)} ${plural(applied, 'l’exécute', 'l’exécutent')}${failed > 0 ? `, ${n(failed)} en échec ou sans réponse` : ''}.`,
    waitsFreeze: (wave: number, waves: number, until: string, why: string) =>
      `La vague ${n(wave)} sur ${n(waves)} attend la fin du gel (${until}, ${why}).`,
    waitsWindow: (wave: number, waves: number) =>
      `La vague ${n(wave)} sur ${n(waves)} attend la prochaine fenêtre où elle peut commencer des workloads.`,
    frozenFor: (why: string) => `Gelé (${why}) : commencé dès que c’est fini.`,
    saidBy: (who: string, comment: string) => `${who} : ${comment}`,
    busyWith: 'Une autre poussée y est ouverte : commencé dès qu’elle est finie.',
    notBegun: {
      halted: 'Pas commencé : la campagne est arrêtée.',
      paused: 'Pas commencé : la campagne est en pause.',
    } as Partial<Record<CampaignStatus, string>>,
    leavesOut: (list: string) => `Laissés de côté : ${list}.`,
    adoptFirst: 'Adoptez ceux que muster n’a jamais configurés : il peut alors les modifier.',
    watching: (wave: number, left: string) => `La vague ${n(wave)} est finie et observée encore ${left}.`,
    takenBack: (count: number, all: number) => `${n(count)} sur ${n(all)} de retour`,
    away: (count: number) => `${workloadsFr(count)} absents ; ils rattraperont à leur retour.`,
    halt: {
      failed: (value: number, limit: number, wave: number) =>
        `Arrêtée à la vague ${n(wave)} : ${workloadsFr(value)} en échec, ${n(limit)} au plus sont admis.`,
      unhealthy: (value: number, limit: number, wave: number) =>
        `Arrêtée à la vague ${n(wave)} : ${workloadsFr(value)} en mauvaise santé, ${n(limit)} au plus sont admis.`,
      drifted: (value: number, limit: number, wave: number) =>
        `Arrêtée dans la vague ${n(wave)} : ${workloadsFr(value)} ${plural(value, 'l’a appliquée et exécute', 'l’ont appliquée et exécutent')} autre chose depuis, au plus ${n(limit)} ${plural(limit, 'le peut', 'le peuvent')}.`,
      silent: (value: number, limit: number, wave: number) =>
        `Arrêtée à la vague ${n(wave)} : ${workloadsFr(value)} sautés ou sans réponse, ${n(limit)} au plus sont admis.`,
      policy_changed: () => 'Arrêtée : la politique des configs n’est plus celle du plan.',
      approver_gone: () => 'Arrêtée : qui l’a approuvée ne peut plus approuver.',
    } as Record<CampaignGate, (value: number, limit: number, wave: number) => string>,
    failedSince: (parts: string) => `Parmi les échecs : ${parts}.`,
    failedAs: {
      went_back: (count: number) => `${n(count)} ${plural(count, 'est revenu', 'sont revenus')} en arrière`,
      going_back: (count: number) => `${n(count)} ${plural(count, 'revient', 'reviennent')} en arrière`,
      went_back_in_part: (count: number) =>
        `${n(count)} ${plural(count, 'est revenu', 'sont revenus')} en partie`,
      rollback_failed: (count: number) =>
        `${n(count)} ${plural(count, 'n’a', 'n’ont')} pas pu revenir non plus`,
      nowhere_to_go: (count: number) =>
        `${n(count)} ${plural(count, 'n’avait', 'n’avaient')} rien à rétablir`,
      overtaken: (count: number) => `${n(count)} ${plural(count, 'a', 'ont')} reçu une autre poussée depuis`,
    },
    failedNoneBack:
      'Aucun de ceux en échec n’a pu revenir en arrière : ils n’exécutent peut-être rien qui marche tant qu’une autre config ne les atteint pas.',
    failedStuck: (count: number) =>
      `${n(count)} d’entre eux n’${plural(count, 'exécute', 'exécutent')} peut-être rien qui marche : seule une autre config y remédie.`,
    haltCause: (title: string, count: number, isAll: boolean) =>
      `${count === 1 ? 'Cause' : isAll ? 'Tous' : 'La plupart'} : ${title}.`,
    haltMore: (more: number) => `${n(more)} de plus`,
    byItself: 'Ont reçu cette version automatiquement',
    byItselfBack: (count: number, withoutBase: number) =>
      [
        count > withoutBase &&
          `${workloadsFr(count - withoutBase)} hors de cette campagne ${plural(count - withoutBase, 'a reçu sa version automatiquement et revient', 'ont reçu sa version automatiquement et reviennent')} aussi en arrière.`,
        withoutBase > 0 &&
          `${workloadsFr(withoutBase)} ${plural(withoutBase, 'a reçu sa version automatiquement comme première configuration, et la garde', 'ont reçu sa version automatiquement comme première configuration, et la gardent')}.`,
      ]
        .filter(Boolean)
        .join(' '),
    keptLead: (count: number) =>
      `${workloadsFr(count)} ${plural(count, 'doit', 'doivent')} encore l’exécuter. ${plural(count, 'Donnez-lui', 'Donnez-leur')} une autre version.`,
    keptNewcomer: 'venu après son approbation',
    keptOlder: 'était à une version plus ancienne',
    keptNoBase: 'aucune config antérieure connue',
    keptChange: (count: number) => `Changer ${plural(count, 'celui-ci', `ces ${n(count)}`)}…`,
    pausedAt: (reached: string) => `En pause : ${reached}.`,
    closed: {
      rolled_back: (by: string) => `Retour en arrière fait${by}.`,
      aborted: (by: string) => `Abandonnée${by}.`,
    },
    closedFrom: (who: string, ago: string, why: string) => ` par ${who} (${ago})${why && ` : « ${why} »`}`,
    haltNobodyLeft: (holds: boolean) =>
      `Il ne reste aucun workload à changer : continuez${holds ? ' avec une limite plus haute' : ''} pour la terminer, abandonnez ou revenez en arrière.`,
    haltNobodyLeftStay: (holds: boolean) =>
      `Il ne reste aucun workload à changer, et aucun qui l’exécute n’a d’ancienne configuration : continuez${holds ? ' avec une limite plus haute' : ''} pour la terminer, ou abandonnez.`,
    haltNext: 'Regardez ses workloads, puis continuez, abandonnez ou revenez en arrière.',
    haltLapseNext:
      'Elle ne reprend que si cela redevient comme avant : continuez alors. Sinon abandonnez-la et redemandez, ou revenez en arrière.',
    haltLapseOver: 'C’est de nouveau comme avant : continuez, abandonnez ou revenez en arrière.',
    haltRaiseNext:
      'Elle s’arrêterait de nouveau telle quelle : continuez avec une limite plus haute, abandonnez ou revenez en arrière.',
    raiseNeeded: (limit: string, value: number) =>
      `Elle s’arrêterait de nouveau aussitôt. ${limit} : au moins ${n(value)}.`,
    comesToEnd: 'Il ne reste aucun workload à changer : elle arriverait à sa fin, et serait terminée.',
    stagesWait:
      'Là où un workload s’est arrêté entre ses étapes, reprenez-les depuis sa page une fois que la campagne a repris.',
    step: {
      request: 'Demander l’approbation',
      approve: 'Approuver',
      reject: 'Rejeter',
      withdraw: 'Retirer',
      start: 'Démarrer',
      pause: 'Mettre en pause',
      continue: 'Continuer',
      abort: 'Abandonner',
      'roll-back': 'Revenir en arrière',
    },
    hint: {
      request: 'Dès lors, ni le plan ni ce dont il est fait ne changent.',
      approve: 'Vous approuvez ce plan, avec chaque workload et chaque vague, et rien d’autre.',
      reject: 'Dites pourquoi ; qui a demandé le lira.',
      withdraw: 'Rien n’a été démarré.',
      start: 'La première vague démarre aussitôt.',
      pause: 'Ce qui a commencé se termine ; rien d’autre ne commence.',
      continue:
        'Elle reprend où elle s’est arrêtée. Relevez ici une limite, avec un commentaire, si elle s’arrêtait de nouveau.',
      abort: 'Plus rien ne commence, pour de bon. Ce qui est fait reste.',
      'roll-back':
        'Chaque workload qui exécute encore ce qu’elle a apporté reçoit son ancienne configuration, sans approbation.',
    },
    undoneBack: {
      goes_back: (count: number) =>
        count === 0
          ? 'Aucun workload ne revient en arrière'
          : `${workloadsFr(count)} ${plural(count, 'revient à son ancienne configuration', 'reviennent à leur ancienne configuration')}`,
      no_way_back: (count: number) =>
        `${n(count)} ${plural(count, 'n’a pas d’ancienne configuration et garde', 'n’ont pas d’ancienne configuration et gardent')} ce qu’elle a apporté`,
      moved_on: (count: number) =>
        `${n(count)} ${plural(count, 'doit exécuter autre chose à présent et reste en l’état', 'doivent exécuter autre chose à présent et restent en l’état')}`,
      left_scope: (count: number) =>
        `${n(count)} ${plural(count, 'est sorti de sa portée et reste', 'sont sortis de sa portée et restent')} en l’état`,
    },
    broughtBack: {
      rolled_back: (count: number, all: number) =>
        count === 0
          ? 'Rien n’est revenu en arrière'
          : `${n(count)} sur ${workloadsFr(all)} ${plural(count, 'a de nouveau son ancienne configuration', 'ont de nouveau leur ancienne configuration')}`,
      no_way_back: (count: number) =>
        `${n(count)} ${plural(count, 'n’avait pas d’ancienne configuration et garde', 'n’avaient pas d’ancienne configuration et gardent')} ce qu’elle a apporté`,
      rollback_failed: (count: number) =>
        `${n(count)} ${plural(count, 'n’a pas pu revenir', 'n’ont pas pu revenir')}`,
      moved_on: (count: number) =>
        `${n(count)} ${plural(count, 'devait', 'devaient')} alors exécuter autre chose`,
      left_scope: (count: number) =>
        `${n(count)} ${plural(count, 'était sorti de sa portée et est resté', 'étaient sortis de sa portée et sont restés')} en l’état`,
    },
    haltLapseNextStay:
      'Elle ne reprend que si cela redevient comme avant : continuez alors. Sinon abandonnez-la et redemandez. On ne peut pas revenir en arrière : aucun workload qui l’exécute n’a d’ancienne configuration.',
    haltLapseOverStay:
      'C’est de nouveau comme avant : continuez ou abandonnez. On ne peut pas revenir en arrière : aucun workload qui l’exécute n’a d’ancienne configuration.',
    haltNextStay:
      'Regardez ses workloads, puis continuez ou abandonnez. On ne peut pas revenir en arrière : aucun workload qui l’exécute n’a d’ancienne configuration.',
    haltRaiseNextStay:
      'Elle s’arrêterait de nouveau telle quelle : continuez avec une limite plus haute, ou abandonnez. On ne peut pas revenir en arrière : aucun workload qui l’exécute n’a d’ancienne configuration.',
    undoneStay: (applied: number, left: number) =>
      `${applied === 0 ? 'Aucun workload ne l’a' : `${workloadsFr(applied)} ${plural(applied, 'la garde', 'la gardent')}`}${left > 0 ? ` ; ${n(left)} qu’elle n’a pas ${plural(left, 'atteint reste', 'atteints restent')} en l’état` : ''}.`,
    goesTo: (count: number, instances: number, environments: string) =>
      `${workloadsFr(count)} avec ${n(instances)} ${plural(instances, 'instance', 'instances')}${environments === '' ? '' : ` dans ${environments}`}`,
    goesProduction: (count: number) => `${n(count)} de production`,
    goesNoWayBack: (count: number) => `${n(count)} sans configuration à laquelle revenir`,
    goesFirst: (count: number, waves: number) =>
      waves === 1 ? 'tous en une vague' : `${n(count)} dans la première de ${n(waves)} vagues`,
    tickProduction: 'Dites que vous savez qu’il s’agit de production',
    comment: 'Commentaire',
    limitNow: (limit: number | null) =>
      limit === null ? 'Vide : inchangé.' : `Vide : inchangé, ${n(limit)}.`,
    confirmProduction: (count: number) => `Oui, ${workloadsFr(count)} de production en font partie`,
    told: {
      request: 'Approbation demandée.',
      approve: 'Approuvée.',
      reject: 'Rejetée.',
      withdraw: 'Retirée.',
      start: 'Démarrée.',
      pause: 'En pause.',
      continue: 'Elle continue.',
      abort: 'Abandonnée.',
      'roll-back': 'Retour en arrière en cours.',
    },
    approvedBy: 'Approuvée par',
    commentBy: 'Dit par',
    commentStep: 'Commenter',
    commentHint: 'Cela ne décide rien. Qui l’approuve ou la démarre le lira.',
    commentTold: 'C’est dit. Elle attend toujours.',
    commentToldApproved: 'C’est dit. Elle reste approuvée, et qui la démarre le verra.',
    requestedBy: 'Demandée par',
    startedBy: 'Démarrée par',
    closedBy: 'Terminée par',
    who: 'Qui',
  },
})
