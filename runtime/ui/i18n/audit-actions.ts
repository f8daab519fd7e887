import { defineTexts, language } from './define.ts'

/** What the actions of the audit log mean; the log itself keeps its codes. */
const actionTexts = defineTexts({
  en: {
    'alert.reopen': 'Alert opened again',
    'alert.resolve': 'Alert resolved',
    'auth.login.failure': 'Sign-in refused',
    'auth.login.success': 'Signed in',
    'auth.password.change': 'Password changed',
    'config.approval.approve': 'Change approved',
    'config.approval.break_glass_push': 'Pushed by breaking the glass',
    'config.approval.comment': 'Change commented on',
    'config.approval.push': 'Approved change pushed',
    'config.approval.reject': 'Change rejected',
    'config.approval.request': 'Approval requested',
    'config.approval.withdraw': 'Change withdrawn',
    'config.auto_rollback': 'Automatic rollback',
    'config.canary.abort': 'Staged rollout aborted',
    'config.canary.promote': 'Staged rollout moved on',
    'config.canary.rollback': 'Staged rollout rolled back',
    'config.create': 'Template stored',
    'config.known_good.clear': 'Known-good pin taken away',
    'config.known_good.conflict': 'Known-good pin refused',
    'config.known_good.mark': 'Pinned as known good',
    'config.label': 'Config labelled',
    'config.policy.block': 'Push blocked by a policy',
    'config.policy.evaluate': 'Policies evaluated',
    'config.rollback': 'Rolled back',
    'push_group.create': 'Push group made',
    'push_group.delete': 'Push group removed',
    'push_group.update': 'Push group changed',
    'settings.recommended_version': 'Recommended version changed',
    'report.export': 'Report exported',
    'report.preview': 'Report previewed',
    'user.create': 'User added',
    'user.delete': 'User removed',
    'user.update': 'User changed',
    'workload.archive': 'Archived',
    'workload.delete': 'Deleted',
    'workload.trusted_labels': 'Trusted labels set',
  } as Record<string, string>,
  fr: {
    'alert.reopen': 'Alerte rouverte',
    'alert.resolve': 'Alerte résolue',
    'auth.login.failure': 'Connexion refusée',
    'auth.login.success': 'Connexion',
    'auth.password.change': 'Mot de passe changé',
    'config.approval.approve': 'Modification approuvée',
    'config.approval.break_glass_push': 'Poussée par bris de glace',
    'config.approval.comment': 'Modification commentée',
    'config.approval.reject': 'Modification rejetée',
    'config.approval.withdraw': 'Modification retirée',
    'config.approval.push': 'Modification approuvée poussée',
    'config.approval.request': 'Approbation demandée',
    'config.auto_rollback': 'Retour automatique',
    'config.canary.abort': 'Déploiement par étapes abandonné',
    'config.canary.promote': 'Déploiement par étapes poursuivi',
    'config.canary.rollback': 'Déploiement par étapes annulé',
    'config.create': 'Modèle enregistré',
    'config.known_good.clear': 'Épinglage retiré',
    'config.known_good.conflict': 'Épinglage refusé',
    'config.known_good.mark': 'Épinglée comme bonne',
    'config.label': 'Libellé donné à une config',
    'config.policy.block': 'Poussée bloquée par une règle',
    'config.policy.evaluate': 'Règles évaluées',
    'config.rollback': 'Retour en arrière',
    'push_group.create': 'Groupe de poussée créé',
    'push_group.delete': 'Groupe de poussée retiré',
    'push_group.update': 'Groupe de poussée modifié',
    'settings.recommended_version': 'Version recommandée modifiée',
    'report.export': 'Rapport exporté',
    'report.preview': 'Rapport affiché',
    'user.create': 'Utilisateur ajouté',
    'user.delete': 'Utilisateur retiré',
    'user.update': 'Utilisateur modifié',
    'workload.archive': 'Archivé',
    'workload.delete': 'Supprimé',
    'workload.trusted_labels': 'Étiquettes de confiance posées',
  },
})

/** An action in words; its code where there are none. */
export const describeAction = (action: string): string => actionTexts[language.value][action] ?? action

/** The codes of the actions that a text means: a part of a code, or of what it is called in either language. */
export function findActions(text: string): string[] {
  const wanted = text.trim().toLowerCase()
  return Object.entries(actionTexts.en)
    .filter(([code, english]) =>
      [code, english, actionTexts.fr[code] ?? ''].some((name) => name.toLowerCase().includes(wanted)),
    )
    .map(([code]) => code)
}
