import type { RolloutGateName, RolloutRecord, StageHold } from '../../../lib/wire/rollouts.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber

/** Texts of the page of one rollout. */
export const rolloutTexts = defineTexts({
  en: {
    title: 'Staged rollout',
    of: (hash: string) => `of ${hash}`,
    stage: (number: number) => `Stage ${n(number)}`,
    share: (percent: number) => `${n(percent)} %`,
    size: (count: number, total: number) =>
      `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')}`,
    everybody: (total: number) => `all ${n(total)} ${plural(total, 'instance', 'instances')}`,
    stages: 'Stages',
    members: 'Instances in the started stages',
    membersFirst: (shown: number, all: number) =>
      `The first ${n(shown)} of ${n(all)}; the push shows every one.`,
    membersBefore: 'As they were before the rollback.',
    seePush: 'See the push',
    column: {
      stage: 'Stage',
      state: 'State',
      applied: 'Applied',
      elapsed: 'Elapsed',
      watch: 'Watched for',
      gates: 'Gates',
      instance: 'Instance',
      since: 'Since',
      why: 'What is wrong',
    },
    status: {
      running: 'running',
      halted: 'halted',
      succeeded: 'done',
      promoted: 'done',
      aborted: 'aborted',
      stopped: 'stopped',
      failed: 'failed',
    },
    stageStatus: {
      waiting: 'waiting',
      running: 'being applied',
      dwelling: 'being watched',
      done: 'done',
      halted: 'halted',
      aborted: 'aborted',
      failed: 'failed',
    },
    unstarted: 'never started',
    gate: {
      no_failure: 'failed instances',
      health: 'unhealthy instances',
      drift: 'drifted instances',
    } as Record<RolloutGateName, string>,
    gateValue: (gate: string, value: number, limit: number) =>
      `${gate}: ${n(value, 1)}, at most ${n(limit, 1)}`,
    gateLimit: (gate: string, limit: number) => `${gate}: at most ${n(limit, 1)}`,
    letPass: (count: number) => `${n(count)} let pass by an operator`,
    tripped: {
      no_failure: (count: number, of: number) =>
        `${n(count)} of ${n(of)} ${plural(of, 'instance', 'instances')} failed the config`,
      health: (count: number, of: number) =>
        `${n(count)} of ${n(of)} ${plural(of, 'instance', 'instances')} became unhealthy`,
      drift: (count: number, of: number) =>
        `${n(count)} of ${n(of)} ${plural(of, 'instance runs', 'instances run')} something else`,
    },
    allowed: (limit: number) =>
      limit === 0 ? 'none is allowed' : `${n(limit, 1)} ${plural(limit, 'is', 'are')} allowed`,
    halted: (what: string, allowed: string, stage: number, names: string, now: number | null) =>
      `Halted in stage ${n(stage)}: ${what}${names && ` (${names})`}; ${allowed}.${now === null ? '' : ` Now it is ${n(now, 1)}.`}`,
    stalled: {
      no_member: (stage: number, count: number, names: string) =>
        count === 1
          ? `Halted in stage ${n(stage)}: its one member is not connected any more: ${names}.`
          : `Halted in stage ${n(stage)}: none of its ${n(count)} members is connected any more: ${names}.`,
      no_answer: (stage: number, count: number, names: string) =>
        count === 1
          ? `Halted in stage ${n(stage)}: its one member did not say what became of the config: ${names}.`
          : `Halted in stage ${n(stage)}: none of its ${n(count)} members said what became of the config: ${names}.`,
    },
    standIns: (names: string) => `It goes on with others in place of ${names}, as far as there are any.`,
    more: (count: number) => `${n(count)} more`,
    decide: 'Look at them, then decide: nobody else receives the config until you do.',
    recovered: 'None of its members is unhealthy any more. Nobody else receives the config until you decide.',
    applying: (stage: number, all: number, done: number, total: number) =>
      `Stage ${n(stage)} of ${n(all)} is being applied: ${n(done)} of ${n(total)} have it.`,
    watching: (stage: number, all: number, left: string) =>
      `Stage ${n(stage)} of ${n(all)} has it and is being watched for another ${left}.`,
    moving: (stage: number, all: number) => `Stage ${n(stage)} of ${n(all)} held; it moves on.`,
    byItself: 'It goes on by itself while the gates hold.',
    waitsBefore: (stage: number, all: number, why: string) =>
      `It waits before stage ${n(stage)} of ${n(all)}: ${why}.`,
    hold: {
      frozen: (reason: string) => `the workload is frozen (${reason})`,
      keptInGit: (owner: string) => `the config of the workload is kept in Git by ${owner} now`,
      why: {
        archived: 'the workload is archived',
        base_moved: 'its config has changed since this was approved',
        became_production: 'it became production, and that was not approved',
        frozen: 'the workload is frozen',
        held: 'the workload is held',
        kept_in_git: 'the config of the workload is kept in Git now',
        not_approved: 'its approvals do not all count any more',
        not_selected: 'it is not meant any more',
        not_under_fleet_config: 'it is not under the fleet config any more',
        stopped: 'what brought it here is stopped',
        under_fleet_config: 'it is under a fleet config now',
        unpromoted: 'nobody has promoted its canary',
      },
      afterwards: 'It goes on by itself once that is over; until then abort it, or roll it back.',
      glass: 'With a reason you break the glass for it: it goes on, and somebody else has to look at that.',
    },
    finished: (count: number, time: string) =>
      `Every stage is done: ${n(count)} ${plural(count, 'instance runs', 'instances run')} it, ${time} after the start.`,
    failed: (count: number) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} could not apply it, so it is over.`,
    nothingToRollBack:
      'There is no earlier config to go back to that anybody approved: abort it, and push one that works.',
    othersSafe: 'Instances outside the started stages were never offered it.',
    aborted: 'It was aborted.',
    stopped: 'Another push took its place.',
    waiting: 'waits to be promoted',
    waits: (count: number) =>
      `${n(count)} chosen ${plural(count, 'instance runs', 'instances run')} it; nobody else does.`,
    waitsMore: 'Promote it when you have seen enough.',
    promote: 'Promote',
    promoteHint: 'Every other instance is offered it, at once.',
    continue: 'Continue',
    abort: 'Abort',
    rollBack: 'Roll back',
    continueHint: (names: string) =>
      `It goes on with the next instances. ${names} will not count against this stage any more.`,
    abortHint: (count: number, hash: string) =>
      `It ends here. ${formatNumber(count)} ${plural(count, 'instance keeps', 'instances keep')} ${hash} until the next push.`,
    rollBackHint: (name: string, count: number, from: string, to: string) =>
      `Of ${name}, ${formatNumber(count)} ${plural(count, 'instance goes', 'instances go')} back from ${from} to ${to}, at once.`,
    done: { promote: 'It goes on.', abort: 'Aborted.', rollback: 'Its members go back.' },
    over: 'It is over.',
    unhealthyNow: 'unhealthy',
    onlyHalted: 'It goes on by itself; only a halted rollout can be continued.',
  },
  fr: {
    title: 'Déploiement par étapes',
    of: (hash: string) => `de ${hash}`,
    stage: (number: number) => `Étape ${n(number)}`,
    share: (percent: number) => `${n(percent)} %`,
    size: (count: number, total: number) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)}`,
    everybody: (total: number) => (total < 2 ? 'la seule instance' : `toutes les instances (${n(total)})`),
    stages: 'Étapes',
    members: 'Instances des étapes commencées',
    membersFirst: (shown: number, all: number) =>
      `Les ${n(shown)} premières sur ${n(all)} ; la poussée les montre toutes.`,
    membersBefore: 'Dans leur état d’avant le retour en arrière.',
    seePush: 'Voir la poussée',
    column: {
      stage: 'Étape',
      state: 'État',
      applied: 'Appliquées',
      elapsed: 'Écoulé',
      watch: 'Observation',
      gates: 'Seuils',
      instance: 'Instance',
      since: 'Depuis',
      why: 'Ce qui ne va pas',
    },
    status: {
      running: 'en cours',
      halted: 'arrêté',
      succeeded: 'terminé',
      promoted: 'terminé',
      aborted: 'abandonné',
      stopped: 'remplacé',
      failed: 'échoué',
    },
    stageStatus: {
      waiting: 'en attente',
      running: 'en application',
      dwelling: 'en observation',
      done: 'terminée',
      halted: 'arrêtée',
      aborted: 'abandonnée',
      failed: 'échouée',
    },
    unstarted: 'jamais commencée',
    gate: {
      no_failure: 'instances en échec',
      health: 'instances en défaut',
      drift: 'instances en écart',
    },
    gateValue: (gate: string, value: number, limit: number) =>
      `${gate} : ${n(value, 1)}, au plus ${n(limit, 1)}`,
    gateLimit: (gate: string, limit: number) => `${gate} : au plus ${n(limit, 1)}`,
    letPass: (count: number) => `${n(count)} ${plural(count, 'admise', 'admises')} par un opérateur`,
    tripped: {
      no_failure: (count: number, of: number) =>
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(of)} ${plural(count, 'a', 'ont')} échoué à appliquer la config`,
      health: (count: number, of: number) =>
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(of)} ${plural(count, 'est passée', 'sont passées')} en défaut`,
      drift: (count: number, of: number) =>
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(of)} ${plural(count, 'exécute', 'exécutent')} autre chose`,
    },
    allowed: (limit: number) =>
      limit === 0
        ? 'aucune n’est permise'
        : `${n(limit, 1)} ${plural(limit, 'est permise', 'sont permises')}`,
    halted: (what: string, allowed: string, stage: number, names: string, now: number | null) =>
      `Arrêté à l’étape ${n(stage)} : ${what}${names && ` (${names})`} ; ${allowed}.${now === null ? '' : ` Maintenant ${n(now, 1)}.`}`,
    stalled: {
      no_member: (stage: number, count: number, names: string) =>
        count === 1
          ? `Arrêté à l’étape ${n(stage)} : son seul membre n’est plus connecté : ${names}.`
          : `Arrêté à l’étape ${n(stage)} : aucun de ses ${n(count)} membres n’est plus connecté : ${names}.`,
      no_answer: (stage: number, count: number, names: string) =>
        count === 1
          ? `Arrêté à l’étape ${n(stage)} : son seul membre n’a pas dit ce qu’est devenue la config : ${names}.`
          : `Arrêté à l’étape ${n(stage)} : aucun de ses ${n(count)} membres n’a dit ce qu’est devenue la config : ${names}.`,
    },
    standIns: (names: string) => `Il reprend avec d’autres à la place de ${names}, s’il y en a.`,
    more: (count: number) => `${n(count)} de plus`,
    decide: 'Regardez-les, puis décidez : personne d’autre ne reçoit la config d’ici là.',
    recovered:
      'Aucun de ses membres n’est plus en défaut. Personne d’autre ne reçoit la config avant que vous décidiez.',
    applying: (stage: number, all: number, done: number, total: number) =>
      `L’étape ${n(stage)} sur ${n(all)} est en application : ${n(done)} sur ${n(total)} l’ont.`,
    watching: (stage: number, all: number, left: string) =>
      `L’étape ${n(stage)} sur ${n(all)} l’a et reste en observation encore ${left}.`,
    moving: (stage: number, all: number) => `L’étape ${n(stage)} sur ${n(all)} a tenu ; il avance.`,
    byItself: 'Il avance seul tant que les seuils tiennent.',
    waitsBefore: (stage: number, all: number, why: string) =>
      `Il attend avant l’étape ${n(stage)} sur ${n(all)} : ${why}.`,
    hold: {
      frozen: (reason: string) => `le workload est gelé (${reason})`,
      keptInGit: (owner: string) => `la configuration du workload est désormais tenue dans Git par ${owner}`,
      why: {
        archived: 'le workload est archivé',
        base_moved: 'sa configuration a changé depuis l’approbation',
        became_production: 'il est devenu de la production, ce qui n’a pas été approuvé',
        frozen: 'le workload est gelé',
        held: 'le workload est retenu',
        kept_in_git: 'la configuration du workload est désormais tenue dans Git',
        not_approved: 'ses approbations ne comptent plus toutes',
        not_selected: 'il n’est plus visé',
        not_under_fleet_config: 'il n’est plus sous la config de parc',
        stopped: 'ce qui l’a apporté ici est arrêté',
        under_fleet_config: 'il est désormais sous une config de parc',
        unpromoted: 'personne n’a promu son canari',
      },
      afterwards: 'Il reprend seul une fois cela passé ; d’ici là, abandonnez-le ou revenez en arrière.',
      glass:
        'Avec une raison, vous brisez la glace pour lui : il reprend, et quelqu’un d’autre doit y regarder.',
    },
    finished: (count: number, time: string) =>
      `Toutes les étapes sont terminées : ${n(count)} ${plural(count, 'instance l’exécute', 'instances l’exécutent')}, ${time} après le début.`,
    failed: (count: number) =>
      `${n(count)} ${plural(count, 'instance n’a pas pu l’appliquer', 'instances n’ont pas pu l’appliquer')} : il est terminé.`,
    nothingToRollBack:
      'Il n’y a pas de config antérieure approuvée à rétablir : abandonnez-le, et poussez-en une qui marche.',
    othersSafe: 'Les instances hors des étapes commencées ne l’ont jamais reçue.',
    aborted: 'Il a été abandonné.',
    stopped: 'Une autre poussée a pris sa place.',
    waiting: 'attend d’être promu',
    waits: (count: number) =>
      `${n(count)} ${plural(count, 'instance choisie l’applique', 'instances choisies l’appliquent')} ; personne d’autre.`,
    waitsMore: 'Promouvez-le quand vous en aurez assez vu.',
    promote: 'Promouvoir',
    promoteHint: 'Toutes les autres instances le reçoivent, aussitôt.',
    continue: 'Continuer',
    abort: 'Abandonner',
    rollBack: 'Revenir en arrière',
    continueHint: (names: string) =>
      `Il reprend avec les instances suivantes. ${names} ne compte plus contre cette étape.`,
    abortHint: (count: number, hash: string) =>
      `Il s’arrête là. ${formatNumber(count)} ${plural(count, 'instance garde', 'instances gardent')} ${hash} jusqu’à la prochaine poussée.`,
    rollBackHint: (name: string, count: number, from: string, to: string) =>
      `Pour ${name}, ${formatNumber(count)} ${plural(count, 'instance revient', 'instances reviennent')} de ${from} à ${to}, tout de suite.`,
    done: { promote: 'Il reprend.', abort: 'Abandonné.', rollback: 'Ses membres reviennent en arrière.' },
    over: 'Il est terminé.',
    unhealthyNow: 'en défaut',
    onlyHalted: 'Il avance seul ; on ne continue qu’un déploiement arrêté.',
  },
})

/** What made a rollout halt, and how much of that is allowed: both as parts of a sentence. */
export function describeTripped({
  gate,
  value,
  limit,
  of,
}: Pick<NonNullable<RolloutRecord['halt']>, 'gate' | 'value' | 'limit'> & { of: number }): [
  what: string,
  allowed: string,
] {
  const { tripped, allowed } = say(rolloutTexts)
  const isKnown = gate in tripped
  return [
    isKnown ? tripped[gate as keyof typeof tripped](value, of) : `${gate} ${n(value, 1)}`,
    allowed(limit),
  ]
}

/** What keeps the next stage of a rollout from starting. */
export function describeHold({ reason, about = '' }: StageHold): string {
  const { why, frozen, keptInGit } = say(rolloutTexts).hold
  return reason === 'frozen' ? frozen(about) : reason === 'kept_in_git' ? keptInGit(about) : why[reason]
}
