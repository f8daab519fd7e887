import { defineTexts } from './define.ts'

/**
 * What the checks of a config find, by code; the service's own words are the English. Apart from the texts of a change,
 * since any page may have to say why a config was refused.
 */
export const findingTexts = defineTexts({
  en: {
    // The service names checks by their ids, and the settings of its binary.
    depends_on_failed_check: 'It depends on a check that failed.',
    otelcol_runtime_disabled: 'Trial runs are switched off on this server.',
  } as Record<string, string>,
  fr: {
    yaml_parse: 'Le YAML n’est pas lisible.',
    empty_config: 'La config est vide.',
    hidden_signs:
      'Cette ligne contient des signes qui ne se voient pas et changent sa lecture, comme un signe qui en inverse le sens.',
    missing_service: 'La section « service » manque.',
    missing_pipelines: '« service.pipelines » doit définir un pipeline.',
    invalid_pipeline: 'Ce pipeline n’est pas un objet.',
    missing_pipeline_section: 'Il manque une section à ce pipeline.',
    undefined_component: 'Ce composant n’est défini nulle part.',
    available_components_missing: 'Le collecteur n’a pas dit quels composants il contient.',
    component_category_unreported: 'Le collecteur n’a rien dit de cette catégorie de composants.',
    component_not_installed: 'Ce composant n’est pas dans le collecteur.',
    target_version_unknown: 'La version du collecteur est inconnue.',
    target_version_too_old: 'La version du collecteur est sous le minimum.',
    otelcol_not_found: 'Le collecteur d’essai est introuvable.',
    otelcol_version_unknown: 'La version du collecteur d’essai est illisible.',
    otelcol_too_old: 'Le collecteur d’essai est trop ancien.',
    otelcol_version_mismatch: 'Le collecteur d’essai a une autre version.',
    otelcol_runtime_unavailable: 'L’essai n’a pas pu se faire.',
    otelcol_runtime_timeout: 'L’essai a pris trop de temps.',
    otelcol_validation_failed: 'Le collecteur d’essai refuse cette config.',
    ambiguous_component: 'Ce composant est défini plus d’une fois sous le même nom.',
    component_partly_installed: 'Ce composant manque à certaines instances ; elles seront exclues.',
    connector_cycle: 'Des connecteurs forment une boucle entre pipelines.',
    duplicate_component: 'Ce composant figure deux fois.',
    duplicate_pipeline: 'Ce pipeline est défini deux fois.',
    duplicate_processor: 'Ce processeur figure deux fois dans le pipeline.',
    experimental_signal: 'Ce signal est expérimental.',
    feature_gate_required:
      'Ce signal exige une option du collecteur qu’aucune instance n’est connue pour avoir.',
    invalid_component: 'Les réglages de ce composant ne sont pas un objet.',
    invalid_component_id: 'Cet identifiant de composant n’est pas valide.',
    invalid_endpoint: 'Le port de cette adresse n’est pas un nombre valable.',
    unfilled_placeholder: 'Ce champ du modèle n’est pas rempli.',
    unfilled_variable:
      'Une variable ${muster:…} n’est pas remplie ; les variables vont dans les versions d’une config de parc.',
    invalid_expansion: 'Cette expression ${…} n’est pas valide.',
    invalid_pipeline_id: 'Cet identifiant de pipeline n’est pas valide.',
    invalid_pipeline_signal: 'Ce pipeline ne nomme aucun signal connu.',
    invalid_reference: 'Cette référence n’est pas un nom de composant.',
    invalid_section: 'Cette section n’a pas la bonne forme.',
    missing_section: 'Il manque une section.',
    otelcol_reference_refused:
      'L’essai n’exécute pas cette config : ses expressions ${…} pourraient mener ailleurs.',
    otelcol_sandbox_unavailable: 'Ce système ne permet pas d’isoler le collecteur d’essai.',
    otelcol_provider_refused:
      'L’essai n’exécute pas cette config : elle lit ailleurs que dans « env » ou « yaml ».',
    removed_setting: 'Ce réglage n’existe plus.',
    unconnected_connector: 'Ce connecteur ne relie rien.',
    unknown_provider: 'Cette expression ${…} lit d’un fournisseur inconnu.',
    unknown_section: 'Cette section est inconnue.',
    unsupported_signal: 'Ce composant ne traite pas ce signal.',
    depends_on_failed_check: 'Dépend d’un contrôle qui a échoué.',
    otelcol_runtime_disabled: 'Les essais sont désactivés sur ce serveur.',
  },
})

/** The reader's own sentence for a code; the server's where there is none. */
export function translated(catalogue: Record<string, string>, code: string, text: string): string {
  return catalogue[code] ?? text
}
