import { PARAMETER_WORDS, sayParameters } from '../../../lib/model/error-words.ts'
import { STATUS_TIMEOUT_TEXT } from '../../../lib/wire/values.ts'
import { defineTexts, language, say } from './define.ts'

/** The causes of failures as the service classifies them; it sends the English title along. */
const causeTexts = defineTexts({
  en: {
    // The service sends these two without a title.
    busy: 'Busy with another push for too long',
    offline: 'Away for too long',
  } as Record<string, string>,
  fr: {
    agent_exited: 'Le collecteur s’est arrêté pendant l’application de la config',
    apply_timeout: 'L’application de la config a pris trop de temps',
    authentication_failed: 'Une destination a refusé les identifiants',
    busy: 'Occupé trop longtemps par un autre envoi',
    capability_lost: 'Ne prend ou ne rapporte plus de config',
    capability_mismatch: 'L’agent n’a pas cette capacité',
    certificate_invalid: 'Un certificat n’est pas accepté',
    collector_validation: 'Le collecteur a refusé la config',
    component_missing: 'Il lui manque un composant de la config',
    component_settings_invalid: 'Les réglages d’un composant sont faux',
    component_undefined: 'Un composant est utilisé mais pas défini',
    component_unknown: 'Un composant ne fait pas partie de ce collecteur',
    connection_failed: 'Une destination est injoignable',
    disconnected: 'N’est plus connectée',
    environment_missing: 'La config renvoie à une valeur introuvable',
    failed_before: 'A déjà échoué avec cette config',
    file_missing: 'Un fichier ou dossier manque',
    in_part: 'La config d’avant n’est appliquée que sur une partie des instances',
    joined_rollout: 'Participe plutôt à un déploiement par étapes',
    left: 'Partie avant de dire ce qu’est devenue la config',
    lost_while_applying: 'Connexion perdue pendant l’application de la config',
    moved_away: 'Appartient maintenant à un autre collecteur',
    no_answer: 'N’a répondu à aucune des offres',
    not_sent: 'La config n’a pas pu lui être envoyée',
    offline: 'Absent trop longtemps',
    opamp_send_failed: 'L’envoi OpAMP a échoué',
    out_of_memory: 'Le collecteur a manqué de mémoire',
    permission_or_policy: 'Une règle de l’agent a refusé la config',
    port_in_use: 'Un port est déjà utilisé',
    rollback_unavailable: 'Le retour est impossible',
    rollout_halted: 'Le déploiement par étapes de ce workload s’est arrêté',
    rolled_back: 'Retour en arrière par un opérateur',
    runs_another: 'Est revenue d’elle-même à une autre config',
    unknown: 'Erreur de configuration distante',
    yaml_invalid: 'La config n’est pas du YAML valide',
  } as Record<string, string>,
})

/** The title of a cause in the reader's language. */
export const describeCause = (cause: string | undefined, title: string | undefined): string =>
  (cause && causeTexts[language.value][cause]) || title || cause || ''

const parameterTexts = defineTexts({
  en: PARAMETER_WORDS,
  fr: {
    port: (value: string) => `port ${value}`,
    component_type: (value: string) => `composant ${value}`,
    yaml_line: (value: string) => `ligne ${value}`,
    exit_code: (value: string) => `code de sortie ${value}`,
    unknown_host: (value: string) => `hôte introuvable : ${value}`,
    address: (value: string) => value,
  },
})

/** What an error is about, in words: a port, a component, a line, an exit code, a host. Empty when nothing is known. */
export const describeParameters = (parameters: Readonly<Record<string, string>> | undefined): string =>
  sayParameters(say(parameterTexts), parameters).join(', ')

/** Causes that are said of the component itself, where it is known: what tells one from the other stands first. */
const componentTexts = defineTexts({
  en: {
    component_unknown: (name: string) => `${name} is not part of this collector`,
    component_undefined: (name: string) => `${name} is used but not defined`,
    component_settings_invalid: (name: string) => `${name} has wrong settings`,
  },
  fr: {
    component_unknown: (name: string) => `${name} ne fait pas partie de ce collecteur`,
    component_undefined: (name: string) => `${name} est utilisé mais pas défini`,
    component_settings_invalid: (name: string) => `${name} a des réglages faux`,
  },
})

/** What is wrong with a component, by its name; null for other causes, and where the name is not known. */
function describeComponent(cause: string | undefined, name: string | undefined): string | null {
  const texts = say(componentTexts)
  if (cause === undefined || name === undefined || !Object.hasOwn(texts, cause)) return null
  return texts[cause as keyof typeof texts](name)
}

const unreachedTexts = defineTexts({
  en: { address: (value: string) => `cannot reach ${value}` },
  fr: { address: (value: string) => `${value} injoignable` },
})

/** A host that is not found, or an address that does not answer: that says already why. Empty where neither is known. */
export function describeUnreached({
  unknown_host: host,
  address,
}: Readonly<Record<string, string>> = {}): string {
  if (address !== undefined) return say(unreachedTexts).address(address)
  return host === undefined ? '' : describeParameters({ unknown_host: host })
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The cause of an error in the reader's language, with what it is about. */
export function describeError(error: {
  error_cause?: string | undefined
  error_title?: string | undefined
  error_parameters?: Readonly<Record<string, string>> | undefined
}): string {
  const unreached = error.error_cause === 'connection_failed' ? describeUnreached(error.error_parameters) : ''
  if (unreached !== '') return capitalized(unreached)
  // With which code the collector ended says nothing more then.
  const { component_type: component, exit_code: _ended, ...others } = error.error_parameters ?? {}
  const ofComponent = describeComponent(error.error_cause, component)
  const about = describeParameters(ofComponent === null ? error.error_parameters : others)
  const cause = ofComponent ?? describeCause(error.error_cause, error.error_title)
  return about === '' || cause === '' ? cause : `${cause} (${about})`
}

type Group = {
  cause: string
  title: string
  error_parameters?: Readonly<Record<string, string>>
  sample_message?: string
}

/** The cause that a group of failed instances shares, as `describeError` says it. */
export const nameGroup = (group: Group): string =>
  describeError({
    error_cause: group.cause,
    error_title: group.title,
    error_parameters: group.error_parameters,
  })

/** Why a group of instances failed, as `describeWhy` says it. */
export const describeGroup = (group: Group | undefined): string =>
  group === undefined
    ? ''
    : describeWhy({
        error_cause: group.cause,
        error_title: group.title,
        error_parameters: group.error_parameters,
        error_message: group.sample_message,
      })

const ownTexts = defineTexts({
  en: {
    noStatus: 'No OpAMP status after 30 s',
    why: (cause: string, own: string) => `${cause}: ${own}`,
  },
  fr: {
    noStatus: 'Aucun état OpAMP après 30 s',
    why: (cause: string, own: string) => `${cause} : ${own}`,
  },
})

/** Characters of an instance's own words in a sentence; its push's page has all. */
const OWN_WORDS_MAX = 160

/**
 * Why something failed: its cause with what it is about; where nothing says what, with the instance's own words. The one
 * way in which sentences and rows tell of a failure.
 */
export function describeWhy(
  error: Parameters<typeof describeError>[0] & { error_message?: string | undefined },
): string {
  const cause = describeError(error)
  const { error_message: said = '', error_parameters: about } = error
  const own = said.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  if (own === '' || said === STATUS_TIMEOUT_TEXT || describeParameters(about) !== '') return cause
  const points = [...own]
  const cut = points.length > OWN_WORDS_MAX ? `${points.slice(0, OWN_WORDS_MAX).join('')}…` : own
  return cause === '' ? cut : say(ownTexts).why(cause, cut)
}

/**
 * What an instance says of its error, or the cause; what muster itself wrote there is in the reader's language. What a
 * group beside it (`told`) says in full is its cause only: of hundreds that failed alike nobody reads the same again.
 */
export function describeMessage(
  of: Parameters<typeof describeError>[0] & { error_message?: string },
  told: readonly Group[] = [],
): string {
  const isTold = told.some((group) => group.sample_message === of.error_message)
  if (of.error_message !== undefined && isTold && of.error_message !== STATUS_TIMEOUT_TEXT)
    return describeError(of) || of.error_message
  if (of.error_message === STATUS_TIMEOUT_TEXT) return say(ownTexts).noStatus
  return of.error_message ?? describeError(of)
}
