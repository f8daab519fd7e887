import { defineTexts } from './define.ts'

export const approvalTexts = defineTexts({
  en: {
    title: 'Approvals',
    tab: { pending: 'Waiting', approved: 'Approved, not pushed', pushed: 'Pushed' },
    none: {
      pending: 'Nothing waits for anybody.',
      approved: 'Nothing is approved and waiting for its push.',
      pushed: 'Nothing was pushed yet.',
    },
    column: {
      change: 'Change',
      workload: 'Workload',
      requester: 'Requested by',
      age: 'Age',
      reach: 'Reaches',
      risk: 'Risk',
      state: 'State',
    },
  },
  fr: {
    title: 'Approbations',
    tab: { pending: 'En attente', approved: 'Approuvées, à pousser', pushed: 'Poussées' },
    none: {
      pending: 'Rien n’attend personne.',
      approved: 'Rien d’approuvé n’attend sa poussée.',
      pushed: 'Rien n’a encore été poussé.',
    },
    column: {
      change: 'Modification',
      workload: 'Collecteur',
      requester: 'Demandé par',
      age: 'Âge',
      reach: 'Atteint',
      risk: 'Risque',
      state: 'État',
    },
  },
})
