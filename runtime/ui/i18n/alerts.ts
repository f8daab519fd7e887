import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

export const alertTexts = defineTexts({
  en: {
    title: 'Alerts',
    open: 'Open',
    resolved: 'Resolved too',
    filter: 'Filter by workload, rule or text',
    column: {
      severity: 'Severity',
      rule: 'Rule',
      workload: 'Workload',
      message: 'What happened',
      fired: 'Since',
      resolved: 'Resolved',
    },
    severity: { critical: 'critical', warning: 'warning' },
    rules: {
      workload_down: 'Workload down',
      config_drift: 'Config drift',
      version_outdated: 'Version outdated',
    },
    resolve: 'Resolve',
    resolvedNow: 'Resolved. It stays quiet until the cause has gone once.',
    none: 'Nothing is wrong. Alerts appear here within 30 seconds of their cause.',
    noneFit: 'No alert fits.',
    count: (n: number) => `${formatNumber(n)} ${plural(n, 'alert', 'alerts')}`,
    still: 'open',
    sentence: {} as Record<string, string>,
  },
  fr: {
    title: 'Alertes',
    open: 'Ouvertes',
    resolved: 'Résolues aussi',
    filter: 'Filtrer par collecteur, règle ou texte',
    column: {
      severity: 'Gravité',
      rule: 'Règle',
      workload: 'Collecteur',
      message: 'Ce qui s’est passé',
      fired: 'Depuis',
      resolved: 'Résolue',
    },
    severity: { critical: 'critique', warning: 'avertissement' },
    rules: {
      workload_down: 'Collecteur absent',
      config_drift: 'Écart de config',
      version_outdated: 'Version dépassée',
    },
    resolve: 'Résoudre',
    resolvedNow: 'Résolue. Elle se tait jusqu’à ce que la cause ait disparu une fois.',
    none: 'Rien à signaler. Les alertes apparaissent ici moins de 30 secondes après leur cause.',
    noneFit: 'Aucune alerte ne correspond.',
    count: (n: number) => `${formatNumber(n)} ${plural(n, 'alerte', 'alertes')}`,
    still: 'ouverte',
    sentence: {
      workload_down: 'Plus aucune instance n’est connectée.',
      config_drift: 'La config assignée n’est pas appliquée partout.',
      version_outdated: 'La version est plus ancienne que le minimum.',
    },
  },
})
