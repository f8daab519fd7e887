import { defineTexts } from './define.ts'

/** Texts of the list of approvals. */
export const approvalTexts = defineTexts({
  en: {
    title: 'Approvals',
    tab: { pending: 'Waiting', approved: 'Approved, not pushed', pushed: 'Pushed', closed: 'Closed' },
    none: {
      pending: 'Nothing waits for anybody.',
      approved: 'Nothing is approved and waiting for its push.',
      pushed: 'Nothing was pushed yet.',
      closed: 'Nothing was rejected, withdrawn or retired.',
    },
    noneWithin: 'There is none within your scope.',
    untitled: 'Change without a comment',
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
    tab: { pending: 'En attente', approved: 'Approuvées, à pousser', pushed: 'Poussées', closed: 'Closes' },
    none: {
      pending: 'Rien n’attend personne.',
      approved: 'Rien d’approuvé n’attend sa poussée.',
      pushed: 'Rien n’a encore été poussé.',
      closed: 'Rien n’a été rejeté, retiré ou remplacé.',
    },
    noneWithin: 'Il n’y en a aucune dans votre périmètre.',
    untitled: 'Changement sans commentaire',
    column: {
      change: 'Modification',
      workload: 'Workload',
      requester: 'Demandé par',
      age: 'Âge',
      reach: 'Atteint',
      risk: 'Risque',
      state: 'État',
    },
  },
})
