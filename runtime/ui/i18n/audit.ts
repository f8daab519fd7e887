import { defineTexts } from './define.ts'
import { formatNumber } from './format.ts'

export const auditTexts = defineTexts({
  en: {
    title: 'Audit',
    exportCsv: 'Export CSV',
    verify: 'Verify the chain',
    verifying: 'Verifying…',
    intact: (count: number, seq: string) =>
      `The chain is intact: ${formatNumber(count)} events up to number ${seq}.`,
    broken: (seq: string) => `The chain is broken at number ${seq}. Somebody changed or removed events.`,
    email: 'E-mail',
    action: 'Action',
    workload: 'Workload id',
    from: 'From',
    to: 'Until',
    none: 'No event fits.',
    away: 'This server keeps no audit log that can be read.',
    shown: (first: number, last: number, total: number) =>
      `${formatNumber(first)}–${formatNumber(last)} of ${formatNumber(total)}`,
    newer: 'Newer',
    older: 'Older',
    column: { when: 'When', who: 'Who', action: 'Action', what: 'On', detail: 'Detail', hash: 'Hash' },
  },
  fr: {
    title: 'Audit',
    exportCsv: 'Exporter en CSV',
    verify: 'Vérifier la chaîne',
    verifying: 'Vérification…',
    intact: (count: number, seq: string) =>
      `La chaîne est intacte : ${formatNumber(count)} événements jusqu’au numéro ${seq}.`,
    broken: (seq: string) =>
      `La chaîne est rompue au numéro ${seq}. Quelqu’un a modifié ou retiré des événements.`,
    email: 'Courriel',
    action: 'Action',
    workload: 'Identifiant du collecteur',
    from: 'Du',
    to: 'Au',
    none: 'Aucun événement ne correspond.',
    away: 'Ce serveur ne tient pas de journal d’audit lisible.',
    shown: (first: number, last: number, total: number) =>
      `${formatNumber(first)}–${formatNumber(last)} sur ${formatNumber(total)}`,
    newer: 'Plus récents',
    older: 'Plus anciens',
    column: { when: 'Quand', who: 'Qui', action: 'Action', what: 'Sur', detail: 'Détail', hash: 'Empreinte' },
  },
})
