import type { LabelRuleChange } from '../../../lib/wire/label-rules.ts'
import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber
const workloadsEn = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`
const workloadsFr = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts of the rules that give trusted labels. */
export const labelRuleTexts = defineTexts({
  en: {
    title: 'Label rules',
    lead: 'A rule gives trusted labels to all workloads of some identity, those that are to come as well, before any fleet config looks at them. Where two rules say different things under one key, the highest priority counts, then the older rule. What an operator sets by hand on a workload wins over all rules. A rule that is removed takes its labels along; nothing is pushed by it.',
    claim:
      'An identity is what an agent says it is: under one shared secret any agent can claim any name, and gets the labels that go with it.',
    none: 'No rule yet.',
    create: 'New rule',
    edit: 'Change the rule',
    column: {
      name: 'Rule',
      priority: 'Priority',
      whom: 'For whom',
      labels: 'Labels',
      workloads: 'Workloads',
    },
    hosts: (count: number, key: string) => `${n(count)} ${plural(count, 'line', 'lines')} by ${key}`,
    overruled: (count: number) => `another rule counts more on ${n(count)}`,
    byHand: (count: number) => `set otherwise by hand on ${n(count)}`,
    name: 'Name',
    priority: 'Priority',
    priorityInvalid: 'The priority must be a whole number.',
    kind: 'For whom',
    kinds: { selector: 'Whoever meets conditions', list: 'A list of hosts (CSV)' },
    conditions: 'Conditions on the identity, one a line',
    conditionsHint:
      'identity/host.name=web-* · identity/namespace in (shop, cart). * and ? stand for any characters.',
    labels: 'Labels that they get, one a line as key=value',
    list: 'List of hosts, as CSV',
    listHint:
      'First line: host.name,env,site. Then a host and its labels a line; an empty cell sets nothing. Hosts that have not come yet are kept.',
    file: 'Or from a file',
    preview: 'See what changes',
    previewStale: 'Look at what changes first.',
    confirm: 'This is meant: there, changes need less of an approval from then on',
    confirmNeeded: 'Say that the lower bar is meant.',
    save: 'Save the rule',
    saved: 'The rule is in force.',
    remove: 'Remove the rule',
    removed: 'The rule is gone, and its labels with it.',
    badLine: (line: string) => `“${line}” is no key=value.`,
    means: (count: number) => `Means ${workloadsEn(count)} now.`,
    changes: (count: number) =>
      count === 0 ? 'Changes the labels of none of them.' : `Changes the labels of ${workloadsEn(count)}.`,
    absent: (count: number) =>
      `${n(count)} ${plural(count, 'line is', 'lines are')} of hosts that have not come yet.`,
    lowered: (count: number) => `On ${n(count)} of them a change would need less of an approval.`,
    lowersNewcomers: 'Workloads that are to come would need less of an approval.',
    moved: (count: number) => `${n(count)} would come under another fleet config, or under none.`,
    handWins: (count: number) => `On ${n(count)} an operator has set something else, and that stays.`,
    conflict: (rule: string, key: string, count: number, wins: boolean) =>
      wins
        ? `Counts more than “${rule}” for ${key} on ${workloadsEn(count)}.`
        : `“${rule}” counts more for ${key} on ${workloadsEn(count)}.`,
    first: (count: number) => `The first ${n(count)}:`,
    workload: 'Workload',
    change: 'Labels',
    approval: 'Approval as for',
    classes: {
      production: 'production',
      other: 'another environment',
      unlabelled: 'no environment',
    } satisfies Record<LabelRuleChange['class_before'], string> as Record<
      LabelRuleChange['class_before'],
      string
    >,
    lower: 'less',
    fromRules: 'Given by rules, unless something is set above:',
    fromRule: (label: string, rule: string) => `${label} (${rule})`,
  },
  fr: {
    title: 'Règles d’étiquettes',
    lead: 'Une règle donne des étiquettes de confiance à tous les workloads d’une identité, aussi à ceux qui viendront, avant qu’aucune config de parc ne les regarde. Si deux règles disent autre chose sous une même clé, la plus haute priorité compte, puis la plus ancienne. Ce qu’un opérateur pose à la main sur un workload l’emporte sur toutes les règles. Une règle retirée emporte ses étiquettes ; rien n’est poussé pour autant.',
    claim:
      'Une identité est ce qu’un agent dit être : sous un secret partagé, tout agent peut prétendre à tout nom, et reçoit les étiquettes qui vont avec.',
    none: 'Pas encore de règle.',
    create: 'Nouvelle règle',
    edit: 'Changer la règle',
    column: {
      name: 'Règle',
      priority: 'Priorité',
      whom: 'Pour qui',
      labels: 'Étiquettes',
      workloads: 'Workloads',
    },
    hosts: (count: number, key: string) => `${n(count)} ${plural(count, 'ligne', 'lignes')} par ${key}`,
    overruled: (count: number) => `une autre règle prime sur ${n(count)}`,
    byHand: (count: number) => `posé autrement à la main sur ${n(count)}`,
    name: 'Nom',
    priority: 'Priorité',
    priorityInvalid: 'La priorité doit être un nombre entier.',
    kind: 'Pour qui',
    kinds: { selector: 'Qui remplit des conditions', list: 'Une liste d’hôtes (CSV)' },
    conditions: 'Conditions sur l’identité, une par ligne',
    conditionsHint:
      'identity/host.name=web-* · identity/namespace in (shop, cart). * et ? tiennent lieu de caractères quelconques.',
    labels: 'Étiquettes qu’ils reçoivent, une par ligne : clé=valeur',
    list: 'Liste d’hôtes, en CSV',
    listHint:
      'Première ligne : host.name,env,site. Puis un hôte et ses étiquettes par ligne ; une case vide ne pose rien. Les hôtes qui ne sont pas encore venus sont gardés.',
    file: 'Ou depuis un fichier',
    preview: 'Voir ce qui change',
    previewStale: 'Regardez d’abord ce qui change.',
    confirm: 'C’est voulu : là, les changements exigeront une moindre approbation',
    confirmNeeded: 'Dites que le seuil plus bas est voulu.',
    save: 'Enregistrer la règle',
    saved: 'La règle est en vigueur.',
    remove: 'Retirer la règle',
    removed: 'La règle est partie, et ses étiquettes avec elle.',
    badLine: (line: string) => `« ${line} » n’est pas de la forme clé=valeur.`,
    means: (count: number) => `Désigne ${workloadsFr(count)} à présent.`,
    changes: (count: number) =>
      count === 0 ? 'Ne change les étiquettes d’aucun.' : `Change les étiquettes de ${workloadsFr(count)}.`,
    absent: (count: number) =>
      `${n(count)} ${plural(count, 'ligne est', 'lignes sont')} d’hôtes qui ne sont pas encore venus.`,
    lowered: (count: number) =>
      `Sur ${n(count)} d’entre eux, un changement exigerait une moindre approbation.`,
    lowersNewcomers: 'Les workloads à venir exigeraient une moindre approbation.',
    moved: (count: number) =>
      `${n(count)} ${plural(count, 'passerait', 'passeraient')} sous une autre config de parc, ou sous aucune.`,
    handWins: (count: number) => `Sur ${n(count)}, un opérateur a posé autre chose, et cela reste.`,
    conflict: (rule: string, key: string, count: number, wins: boolean) =>
      wins
        ? `Prime sur « ${rule} » pour ${key} sur ${workloadsFr(count)}.`
        : `« ${rule} » prime pour ${key} sur ${workloadsFr(count)}.`,
    first: (count: number) => `${plural(count, 'Le premier', 'Les premiers')} (${n(count)}) :`,
    workload: 'Workload',
    change: 'Étiquettes',
    approval: 'Approbation comme pour',
    classes: {
      production: 'la production',
      other: 'un autre environnement',
      unlabelled: 'aucun environnement',
    },
    lower: 'moins',
    fromRules: 'Données par des règles, sauf si autre chose est posé ci-dessus :',
    fromRule: (label: string, rule: string) => `${label} (${rule})`,
  },
})
