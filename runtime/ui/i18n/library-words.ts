import { defineTexts, language } from './define.ts'

/** The built-in library and the migration assistant speak English over the API; what has an id is said here too. */
const libraryWords = defineTexts({
  en: {
    template: {} as Record<string, string>,
    variable: {} as Record<string, readonly [string, string]>,
    reason: {} as Record<string, string>,
  },
  fr: {
    template: {
      'tpl-k8s-otlp-grafana':
        'OTLP des applications de Kubernetes : traces vers Tempo, journaux vers Loki, métriques vers Mimir.',
      'tpl-k8s-otlp-datadog':
        'OTLP des applications de Kubernetes : traces, métriques et journaux vers Datadog.',
      'tpl-logs-loki': 'Journaux reçus en OTLP, envoyés à Loki.',
      'tpl-traces-tempo': 'Traces reçues en OTLP, envoyées à Tempo.',
      'tpl-metrics-prometheus-remote':
        'Métriques reçues en OTLP, écrites vers une adresse « remote write » de Prometheus.',
      'tpl-jvm-services': 'Traces, métriques et journaux de services JVM, reçus et envoyés en OTLP.',
      'tpl-nginx': 'Le journal d’accès de NGINX et les métriques qu’il envoie en OTLP.',
      'tpl-postgresql': 'Métriques d’un serveur PostgreSQL et ce qui arrive en OTLP.',
      'tpl-redis': 'Métriques d’un serveur Redis et ce qui arrive en OTLP.',
    },
    variable: {
      endpoint: ['Adresse', 'Où la télémétrie est envoyée : hôte et port, ou URL.'],
      headers: [
        'En-têtes',
        'En-têtes de requête de l’exporteur, comme son autorisation. Gardez le secret dans une variable.',
      ],
      environment: ['Environnement', 'La valeur de deployment.environment sur tout ce qui passe.'],
      resource_attributes: [
        'Attributs de ressource',
        'D’autres attributs de la ressource, comme service.namespace.',
      ],
      tls: ['TLS', 'Réglages TLS de l’exporteur ; « insecure » est pour des essais locaux.'],
    },
    reason: {
      'the setting has no counterpart in the draft': 'ce réglage n’a pas d’équivalent dans le brouillon',
      'the section has no counterpart in the draft': 'cette section n’a pas d’équivalent dans le brouillon',
      'the filter has no counterpart in the draft': 'ce filtre n’a pas d’équivalent dans le brouillon',
      'the operation has no counterpart in the draft':
        'cette opération n’a pas d’équivalent dans le brouillon',
      'the output has no counterpart in the draft': 'cette sortie n’a pas d’équivalent dans le brouillon',
      'the port must be a whole number from 1 to 65535': 'le port doit être un nombre entier de 1 à 65535',
      'the tag has no value': 'cette étiquette n’a pas de valeur',
      'the value is too long': 'la valeur est trop longue',
      'the name has characters that an attribute cannot carry':
        'le nom a des caractères qu’un attribut ne peut porter',
      'expected a list of log sources': 'une liste de sources de journaux était attendue',
      'expected a mapping': 'un objet était attendu',
      'only log sources of type file with a path are carried over':
        'seules les sources de type « file » avec un chemin sont reprises',
      'only tail inputs with a path are carried over':
        'seules les entrées « tail » avec un chemin sont reprises',
      'only single values become attributes': 'seules les valeurs simples deviennent des attributs',
      'only the first address is carried over': 'seule la première adresse est reprise',
      'the forwarder computes this value': 'le relais calcule cette valeur',
    },
  },
})

/** What a built-in template is for; for any other template `text`, its own description. */
export const describeTemplate = (id: string, text: string | undefined): string =>
  libraryWords[language.value].template[id] ?? text ?? ''

/** The name of a built-in template's variable, and what it decides. */
export const describeVariable = (variable: {
  name: string
  label: string
  description?: string
}): readonly [string, string] =>
  libraryWords[language.value].variable[variable.name] ?? [variable.label, variable.description ?? '']

/** Why a setting was not carried over, or what to do about it. */
export const describeUnmapped = (item: { reason: string; suggestion?: string }): string =>
  language.value === 'en'
    ? (item.suggestion ?? item.reason)
    : (libraryWords[language.value].reason[item.reason] ?? item.suggestion ?? item.reason)
