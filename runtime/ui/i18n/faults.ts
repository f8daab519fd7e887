import {
  FAULT_PLACES,
  FAULTS,
  type FaultCode,
  type FaultPlace,
  fillFault,
} from '../../../lib/model/faults.ts'
import { defineTexts, say } from './define.ts'

/** What is wrong with something that was sent, and where; `{max}` stands for the field of that name in the answer. */
export const faultTexts = defineTexts<{
  fault: Record<FaultCode, string>
  place: Record<FaultPlace, string>
}>({
  en: { fault: FAULTS, place: FAULT_PLACES },
  fr: {
    fault: {
      cells_miscounted: '{count} cellules au lieu de {expected}',
      cells_too_many: 'plus de {max} cellules',
      column_not_label: 'une colonne n’est pas un nom d’étiquette',
      column_twice: 'une colonne s’y trouve deux fois',
      columns_miscounted: 'la liste doit avoir de 1 à {max} colonnes d’étiquettes',
      config_empty: 'la configuration est vide',
      first_cell_empty: 'la première cellule ne nomme rien',
      first_column_unknown: 'la première colonne doit être l’une de {keys}',
      labels_miscounted: 'il lui faut de 1 à {max} étiquettes',
      label_unreadable: 'une cellule n’est pas une étiquette',
      list_empty: 'la liste doit avoir un en-tête et une ligne',
      list_lines_too_many: 'la liste a plus de {max} lignes',
      list_too_long: 'la liste dépasse {max} caractères',
      lists_too_long: 'toutes les listes ensemble ont au plus {max} caractères',
      lowered_too_many: 'une modification abaisse l’exigence de {max} workloads au plus',
      lowered_too_often:
        'en un jour, {max} modifications au plus peuvent abaisser l’exigence des workloads à venir',
      name_controls: 'le nom contient des caractères de contrôle',
      name_twice: '{name} s’y trouve deux fois',
      patch_empty: 'la retouche ne change rien',
      patch_pipeline_ambiguous: 'une retouche de pipeline demande soit « add », soit « remove »',
      patch_too_long: 'la retouche dépasse {max} caractères',
      placeholder_followed: '${muster:{name} n’est suivi ni de } ni de :-',
      placeholder_nameless: 'un ${muster:…} n’a pas de nom de variable',
      placeholder_nested: 'un ${muster:…} est imbriqué trop profondément',
      placeholder_open: 'un ${muster:…} n’est pas fermé',
      priority_out_of_range: 'la priorité doit être entre −{max} et {max}',
      quote_misplaced: 'un guillemet se trouve là où il ne peut être',
      rendered_differently: 'le texte obtenu ne se lit pas comme les valeurs qui y ont été mises',
      rule_keys_too_many: 'toutes les règles ensemble posent {max} étiquettes au plus',
      rules_too_many: 'il y a {max} règles au plus',
      selector_beyond_identity: 'son sélecteur ne peut nommer que identity/…',
      selector_or_list: 'il lui faut un sélecteur ou une liste',
      table_label_unset:
        'la table de valeurs demande une étiquette que posent les opérateurs, comme muster/site',
      table_row_bad: 'la table de valeurs a une ligne incorrecte',
      table_rows_too_many: 'la table de valeurs a plus de {max} lignes',
      table_variable_undeclared: 'la table de valeurs nomme « {name} », qui n’est pas déclarée',
      tag_unfit: 'une balise YAML ne convient pas à la valeur d’une variable',
      text_unstorable: 'le texte contient des caractères qui ne peuvent être conservés',
      variable_declared_twice: 'la variable « {name} » est déclarée deux fois',
      variable_default_idle: 'la variable « {name} » est requise, son défaut ne sert donc jamais',
      variable_description_invalid:
        'la description de la variable « {name} » doit tenir en une ligne de {max} caractères au plus',
      variable_in_key: 'une variable ne peut se trouver dans une clé',
      variable_in_secret:
        'la variable « {name} » est à {path}, la place d’un secret ; gardez-le sur l’hôte et référez-vous-y : ${env:NAME} dans le texte, ou ${env:${muster:{name}}} si la variable contient le nom',
      variable_label_unknown: 'variable « {name} » : {label} n’est pas une étiquette',
      variable_missing: 'la variable « {name} » n’a pas de valeur',
      variable_name_invalid: 'une variable a un nom de lettres, de chiffres et de tirets bas',
      variable_name_unfit: 'une variable a un nom d’au plus 64 lettres, chiffres et tirets bas',
      variable_not_boolean: 'la variable « {name} » doit être true ou false',
      variable_not_duration: 'la variable « {name} » doit être une durée, comme 1m30s',
      variable_not_integer: 'la variable « {name} » doit être un nombre entier, comme 4317',
      variable_not_number: 'la variable « {name} » doit être un nombre, comme 0.25',
      variable_pattern_invalid: 'le motif de la variable « {name} » ne peut être lu',
      variable_pattern_missing:
        'la variable « {name} » prend ce que les agents rapportent, il lui faut donc un motif',
      variable_secret:
        'la variable « {name} » semble contenir un secret ; gardez-le sur l’hôte et référez-vous-y : ${env:NAME} dans le texte, ou ${env:${muster:{name}}} si la variable contient le nom',
      variable_too_long: 'la variable « {name} » a plus de {max} caractères',
      variable_undeclared: 'la variable « {name} » n’est pas déclarée',
      variable_unmatched: 'la variable « {name} » doit correspondre à {pattern}',
      variable_unprintable: 'la variable « {name} » doit tenir en une ligne sans caractères de contrôle',
      variables_too_many: 'une version a au plus {max} variables',
      version_nameless: 'une version demande fleet_config_id et number',
      window_days_invalid: 'les jours d’une fenêtre sont des nombres de 0 (dimanche) à 6',
      window_empty: 'une fenêtre ne peut commencer et finir à la même heure',
      window_times_invalid: 'les fenêtres demandent from et to sous la forme HH:MM',
      yaml_empty: 'le YAML est vide',
      yaml_invalid: 'le YAML ne peut être lu',
      yaml_too_long: 'le YAML dépasse {max} caractères',
    },
    place: {
      default: 'défaut : ',
      line: 'ligne {line} : ',
      table: 'table de valeurs : ',
    },
  },
})

/** What is wrong by the fields of an answer, in the reader's words; null where its code is not known here. */
export function sayFault(body: Readonly<Record<string, unknown>>): string | null {
  const { fault, place } = say(faultTexts)
  const { why, within } = body
  if (typeof why !== 'string' || !Object.hasOwn(fault, why)) return null
  const isPlaced = typeof within === 'string' && Object.hasOwn(place, within)
  const sentence = (isPlaced ? place[within as FaultPlace] : '') + fault[why as FaultCode]
  return fillFault(sentence, body)
}
