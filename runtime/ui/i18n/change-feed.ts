import type { ChangeOutcome, ChangeRecord, FeedKind } from '../../../lib/wire/change-feed.ts'
import { defineTexts, ofFr, plural, say } from './define.ts'
import { formatNumber, shortHash } from './format.ts'

const n = formatNumber

/** Texts of the feed of changes. */
export const changeFeedTexts = defineTexts({
  en: {
    title: 'Changes',
    lead: 'What was done to the configs of the fleet, the newest first.',
    text: 'Words',
    textHint: 'of a comment, campaign, fleet config or hash',
    workload: 'Workload',
    workloadHint: 'name, host or id',
    person: 'Person',
    personHint: 'a part of the e-mail',
    kind: 'Kind',
    outcome: 'Outcome',
    from: 'From',
    to: 'Until',
    any: 'All',
    clear: 'Show all changes',
    none: 'No change was made yet.',
    noneYet: 'Nothing of this among the newest changes. Older ones are further back.',
    noneFits:
      'No change fits. It may be something else: look at the alerts, and at what the collectors report.',
    kinds: {
      push: 'Push',
      rollout: 'Rollout in stages',
      rollback: 'Rollback',
      auto_rollback: 'Automatic rollback',
      request: 'Request',
      campaign: 'Campaign',
      auto_apply: 'Version by itself',
    } satisfies Record<FeedKind, string> as Record<FeedKind, string>,
    outcomes: {
      open: 'not over yet',
      succeeded: 'succeeded',
      in_part: 'applied in part',
      failed: 'failed',
      halted: 'halted',
      ended: 'ended without effect',
    } satisfies Record<ChangeOutcome, string> as Record<ChangeOutcome, string>,
    pushed: (who: string, hash: string) => `${who} pushed ${hash}`,
    staged: (who: string, hash: string) => `${who} pushed ${hash} in stages`,
    wentBack: (who: string, hash: string) => `${who} rolled back to ${hash}`,
    tookBack: (failed: string, hash: string) =>
      failed === '' ? `Automatic rollback to ${hash}` : `Automatic rollback from ${failed} to ${hash}`,
    asked: (who: string, hash: string) => `${who} asked for ${hash}`,
    started: (who: string) => `campaign of ${who}`,
    forWhom: (who: string) => `asked for by ${who}`,
    approvedBy: (who: string) => `approved by ${who}`,
    applies: (number: number) => `version ${n(number)} applies by itself`,
    byCampaign: (name: string) => `campaign ${name}`,
    byVersion: (name: string, number: number) => `${name}: version ${n(number)}, by itself`,
    pushes: (count: number) => `${n(count)} ${plural(count, 'push', 'pushes')} of this campaign`,
    pushesByItself: (count: number) => `${n(count)} ${plural(count, 'push', 'pushes')} by itself`,
    glass: 'broke the glass',
    reached: (applied: number, failed: number, all: number) =>
      `${n(applied)} of ${n(all)} applied${failed > 0 ? `, ${n(failed)} failed` : ''}`,
  },
  fr: {
    title: 'Changements',
    lead: 'Ce qui a été fait aux configs du parc, le plus récent d’abord.',
    text: 'Mots',
    textHint: 'd’un commentaire, d’une campagne, d’une config de parc ou d’une empreinte',
    workload: 'Workload',
    workloadHint: 'nom, hôte ou identifiant',
    person: 'Personne',
    personHint: 'une partie du courriel',
    kind: 'Genre',
    outcome: 'Issue',
    from: 'De',
    to: 'À',
    any: 'Tous',
    clear: 'Montrer tous les changements',
    none: 'Aucun changement n’a encore été fait.',
    noneYet: 'Rien de tel parmi les changements les plus récents. Les plus anciens sont plus loin.',
    noneFits:
      'Aucun changement ne correspond. La cause est peut-être ailleurs : voyez les alertes, et ce que disent les collecteurs.',
    kinds: {
      push: 'Poussée',
      rollout: 'Déploiement par étapes',
      rollback: 'Retour en arrière',
      auto_rollback: 'Retour automatique',
      request: 'Demande',
      campaign: 'Campagne',
      auto_apply: 'Version automatique',
    },
    outcomes: {
      open: 'pas encore terminé',
      succeeded: 'réussi',
      in_part: 'appliqué en partie',
      failed: 'échoué',
      halted: 'arrêté',
      ended: 'terminé sans effet',
    },
    pushed: (who: string, hash: string) => `${who} a poussé ${hash}`,
    staged: (who: string, hash: string) => `${who} a poussé ${hash} par étapes`,
    wentBack: (who: string, hash: string) => `${who} est revenu à ${hash}`,
    tookBack: (failed: string, hash: string) =>
      failed === '' ? `Retour automatique à ${hash}` : `Retour automatique de ${failed} à ${hash}`,
    asked: (who: string, hash: string) => `${who} a demandé ${hash}`,
    started: (who: string) => `campagne ${ofFr(who)}`,
    forWhom: (who: string) => `demandé par ${who}`,
    approvedBy: (who: string) => `approuvé par ${who}`,
    applies: (number: number) => `la version ${n(number)} s’applique automatiquement`,
    byCampaign: (name: string) => `campagne ${name}`,
    byVersion: (name: string, number: number) => `${name} : version ${n(number)}, automatiquement`,
    pushesByItself: (count: number) =>
      `${n(count)} ${plural(count, 'poussée automatique', 'poussées automatiques')}`,
    pushes: (count: number) => `${n(count)} ${plural(count, 'poussée', 'poussées')} de cette campagne`,
    glass: 'bris de glace',
    reached: (applied: number, failed: number, all: number) =>
      `${n(applied)} sur ${n(all)} à jour${failed > 0 ? `, ${n(failed)} en échec` : ''}`,
  },
})

/** What was done, by whom; the same words wherever a change is told. */
export function describeChange(of: ChangeRecord): string {
  const words = say(changeFeedTexts)
  const hash = shortHash(of.config_hash)
  switch (of.kind) {
    case 'push':
      return words.pushed(of.who, hash)
    case 'rollout':
      return words.staged(of.who, hash)
    case 'rollback':
      return words.wentBack(of.who, hash)
    case 'auto_rollback':
      return words.tookBack(shortHash(of.failed_config_hash), hash)
    case 'request':
      return words.asked(of.who, hash)
    case 'campaign':
      return words.started(of.who)
    case 'auto_apply':
      return words.applies(of.version_number ?? 0)
  }
}

/** Who asked for it and who let it through, as far as these are others than who did it. */
export function describePeople({ kind, who, requester, approver }: ChangeRecord): string[] {
  const words = say(changeFeedTexts)
  return [
    ...(requester && requester !== who && kind !== 'request' ? [words.forWhom(requester)] : []),
    ...(approver ? [words.approvedBy(approver)] : []),
  ]
}
