import { defineTexts, language } from './define.ts'

/** The causes of failures as the service classifies them; it sends the English title along. */
const causeTexts = defineTexts({
  en: {} as Record<string, string>,
  fr: {
    agent_exited: 'Le collecteur s’est arrêté pendant l’application de la config',
    apply_timeout: 'L’application de la config a pris trop de temps',
    authentication_failed: 'Une destination a refusé les identifiants',
    capability_mismatch: 'L’agent n’a pas cette capacité',
    certificate_invalid: 'Un certificat n’est pas accepté',
    collector_validation: 'Le collecteur a refusé la config',
    component_settings_invalid: 'Les réglages d’un composant sont faux',
    component_undefined: 'Un composant est utilisé mais pas défini',
    component_unknown: 'Un composant ne fait pas partie de ce collecteur',
    connection_failed: 'Une destination est injoignable',
    environment_missing: 'La config renvoie à une valeur introuvable',
    file_missing: 'Un fichier ou dossier manque',
    lost_while_applying: 'Connexion perdue pendant l’application de la config',
    out_of_memory: 'Le collecteur a manqué de mémoire',
    opamp_send_failed: 'L’envoi OpAMP a échoué',
    permission_or_policy: 'Une règle de l’agent a refusé la config',
    port_in_use: 'Un port est déjà utilisé',
    rolled_back: 'Annulé par un opérateur',
    rollback_unavailable: 'Le retour est impossible',
    unknown: 'Erreur de configuration distante',
    yaml_invalid: 'La config n’est pas du YAML valide',
  } as Record<string, string>,
})

/** The title of a cause in the reader's language. */
export const describeCause = (cause: string | undefined, title: string | undefined): string =>
  (cause && causeTexts[language.value][cause]) || title || cause || ''
