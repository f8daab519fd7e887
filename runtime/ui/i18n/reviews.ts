import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { policyTexts } from './approval-policy.ts'
import { defineTexts, say } from './define.ts'
import { formatListed, formatNumber } from './format.ts'

const NONE = {
  break_glass: '',
  rollback: '',
  known_good: '',
  labels: '',
  label_rule: '',
  campaign_rollback: '',
}

/** Texts about what was done without an approval and is to be looked at. */
export const reviewTexts = defineTexts({
  en: {
    tab: 'To look at',
    count: (text: string, count: number) => (count === 0 ? text : `${text} (${formatListed(count)})`),
    lead: 'What was done without an approval stays here until somebody else has looked at it.',
    none: 'Nobody has to look at anything.',
    more: (count: number) =>
      `The oldest ${formatNumber(count)} are shown: others follow once these have been looked at.`,
    kind: {
      ...NONE,
      break_glass: 'Broken glass',
      rollback: 'Rollback',
      known_good: 'Known good pinned',
      labels: 'Labels change the rule for approvals',
      label_rule: 'A label rule asks less for newcomers',
      campaign_rollback: 'Campaign rolled back',
    },
    column: { what: 'What', workload: 'Workload', by: 'Done by', age: 'Age', why: 'Why', look: 'Look at it' },
    holds: (until: string) => `The stricter rule holds until ${until}.`,
    labelsWait: (until: string) =>
      `Saved. Approvals follow the stricter rule until ${until}, or until somebody else accepts the labels.`,
    look: 'Looked at',
    own: 'You did this: somebody else has to look at it.',
    ownNot: (why: string) => `Somebody else has to look at it: ${why}.`,
    title: 'Look at what was done',
    explain: {
      ...NONE,
      break_glass: 'Accepted, the config counts as approved here: it may be rolled back to and pinned.',
      rollback: 'The config was approved before; you say whether going back to it was right.',
      known_good: 'Failed pushes go back to this config.',
      labels: 'Accepted, the labels count for approvals at once.',
      label_rule: 'Accepted, the rule counts at once for the approvals of those who have come since.',
      campaign_rollback: 'What ran before was approved; you say whether going back to it was right.',
    },
    comment: 'What you found',
    needsComment: 'Say what you found.',
    accept: 'In order',
    refuse: 'Not in order',
    done: 'Noted.',
  },
  fr: {
    tab: 'À regarder',
    count: (text: string, count: number) => (count === 0 ? text : `${text} (${formatListed(count)})`),
    lead: 'Ce qui a été fait sans approbation reste ici jusqu’à ce que quelqu’un d’autre l’ait regardé.',
    more: (count: number) =>
      `Les ${formatNumber(count)} plus anciens sont montrés : d’autres suivent une fois ceux-ci regardés.`,
    none: 'Personne n’a rien à regarder.',
    kind: {
      ...NONE,
      break_glass: 'Bris de glace',
      rollback: 'Retour en arrière',
      known_good: 'Configuration sûre épinglée',
      labels: 'Des étiquettes changent la règle d’approbation',
      label_rule: 'Une règle d’étiquettes exige moins des nouveaux venus',
      campaign_rollback: 'Campagne reprise',
    },
    column: {
      what: 'Quoi',
      workload: 'Workload',
      by: 'Fait par',
      age: 'Âge',
      why: 'Pourquoi',
      look: 'Regarder',
    },
    holds: (until: string) => `La règle la plus stricte vaut jusqu’au ${until}.`,
    labelsWait: (until: string) =>
      `Enregistré. Les approbations suivent la règle la plus stricte jusqu’au ${until}, ou jusqu’à ce que quelqu’un d’autre accepte les étiquettes.`,
    look: 'Regardé',
    own: 'Vous l’avez fait : quelqu’un d’autre doit le regarder.',
    ownNot: (why: string) => `Quelqu’un d’autre doit le regarder : ${why}.`,
    title: 'Regarder ce qui a été fait',
    explain: {
      ...NONE,
      break_glass: 'Acceptée, la configuration vaut comme approuvée ici : on peut y revenir et l’épingler.',
      rollback: 'La configuration avait été approuvée ; vous dites s’il était juste d’y revenir.',
      known_good: 'Les poussées en échec reviennent à cette configuration.',
      labels: 'Acceptées, les étiquettes valent aussitôt pour les approbations.',
      label_rule: 'Acceptée, la règle vaut aussitôt pour les approbations de ceux qui sont venus depuis.',
      campaign_rollback:
        'Ce qui tournait avant avait été approuvé ; vous dites s’il était juste d’y revenir.',
    },
    comment: 'Ce que vous avez constaté',
    needsComment: 'Dites ce que vous avez constaté.',
    accept: 'En ordre',
    refuse: 'Pas en ordre',
    done: 'Noté.',
  },
})

/** Why something was done: in the words of whoever did it, or of labels, which rule held for approvals and which does. */
export const describeReason = ({ kind, reason }: Pick<ReviewRecord, 'kind' | 'reason'>): string =>
  kind === 'labels'
    ? reason.replace(/\w+/g, (name) => (say(policyTexts).class as Record<string, string>)[name] ?? name)
    : reason
