import type { GroupScope } from '../../../lib/wire/identity.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatList, formatNumber } from './format.ts'

/** Texts about groups of users: a role, everywhere or within a scope. */
export const userGroupTexts = defineTexts({
  en: {
    title: 'User groups',
    lead: 'A group gives its members a role: everywhere, or only on workloads whose trusted label has one of some values. Groups of the identity provider are mapped onto these by their names.',
    fresh: 'New group',
    add: 'Add the group',
    change: 'Change',
    changing: (name: string) => `Change ${name}`,
    column: { name: 'Name', role: 'Role', scope: 'Where', members: 'Members' },
    name: 'Name',
    nameHint: 'a–z, 0–9, dot, dash and underscore. It cannot be changed later.',
    role: 'Role',
    where: 'Where it holds',
    everywhere: 'everywhere',
    within: 'only where a trusted label has one of these values',
    key: 'Trusted label',
    values: 'Values',
    valuesHint: 'With commas between them. Workloads without the label are outside.',
    onlyEditor: 'Only the role of an editor can be bound to a scope.',
    ofSystem: 'of muster',
    remove: 'Remove',
    removeAsk: (name: string) => `Remove the group ${name}? It must have no members.`,
    removed: 'Removed.',
    members: (count: number) => `${formatNumber(count)} ${plural(count, 'member', 'members')}`,
    scope: (key: string, values: string) => `${key} is ${values}`,
    here: (key: string, value: string | undefined) =>
      value ? `${key} is ${value}` : `${key} is not set: what agents say of themselves does not count`,
    or: ' or ',
  },
  fr: {
    title: 'Groupes d’utilisateurs',
    lead: 'Un groupe donne un rôle à ses membres : partout, ou seulement sur les workloads dont une étiquette de confiance a une des valeurs choisies. Les groupes du fournisseur d’identité leur correspondent par leurs noms.',
    fresh: 'Nouveau groupe',
    add: 'Ajouter le groupe',
    change: 'Modifier',
    changing: (name: string) => `Modifier ${name}`,
    column: { name: 'Nom', role: 'Rôle', scope: 'Où', members: 'Membres' },
    name: 'Nom',
    nameHint: 'a–z, 0–9, point, tiret et tiret bas. Il ne peut plus être changé ensuite.',
    role: 'Rôle',
    where: 'Où il vaut',
    everywhere: 'partout',
    within: 'seulement là où une étiquette de confiance a une de ces valeurs',
    key: 'Étiquette de confiance',
    values: 'Valeurs',
    valuesHint: 'Séparées par des virgules. Les workloads sans l’étiquette sont en dehors.',
    onlyEditor: 'Seul le rôle d’éditeur peut être limité à un périmètre.',
    ofSystem: 'de muster',
    remove: 'Supprimer',
    removeAsk: (name: string) => `Supprimer le groupe ${name} ? Il ne doit avoir aucun membre.`,
    removed: 'Supprimé.',
    members: (count: number) => `${formatNumber(count)} ${plural(count, 'membre', 'membres')}`,
    scope: (key: string, values: string) => `${key} est ${values}`,
    here: (key: string, value: string | undefined) =>
      value
        ? `${key} est ${value}`
        : `${key} n’est pas défini : ce que les agents disent d’eux-mêmes ne compte pas`,
    or: ' ou ',
  },
})

/** Scopes as a text: `muster/env is dev or staging`. */
export function describeScopes(scopes: readonly GroupScope[]): string {
  const words = say(userGroupTexts)
  return scopes.map(({ key, values }) => words.scope(key, values.join(words.or))).join(words.or)
}

/** What a workload with these labels has of what scopes go by: `muster/env is live`. */
export function describeHere(
  scopes: readonly GroupScope[],
  labels: Readonly<Record<string, string | undefined>>,
): string {
  const words = say(userGroupTexts)
  return formatList([...new Set(scopes.map(({ key }) => key))].map((key) => words.here(key, labels[key])))
}
