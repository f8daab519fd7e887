import { defineTexts } from './define.ts'

/** Texts of the ways from a workload to other programs. */
export const workloadLinkTexts = defineTexts({
  en: {
    openIn: 'Open in',
    opensAnew: 'opens in a new tab',
    missing: (what: string) => `this workload has no ${what}`,
    lead: 'Each workload has these links, for example to a dashboard about it. The address may have {id}, {name}, {cluster}, {environment} and {label:KEY} behind its host; each is filled in with what is known of the workload.',
    name: 'Name',
    url: 'Address',
    example: 'https://grafana.example.com/d/collectors?var-host={label:host.name}',
    add: 'Add a link',
    remove: (name: string) => (name === '' ? 'Remove this link' : `Remove ${name}`),
    none: 'There is no link yet.',
    by: (who: string, when: string) => `Stored by ${who}, ${when}.`,
    unsaved: 'Nothing has changed.',
    full: (max: number) => `There can be ${max} links.`,
  },
  fr: {
    openIn: 'Ouvrir dans',
    opensAnew: 's’ouvre dans un nouvel onglet',
    missing: (what: string) => `ce workload n’a pas de ${what}`,
    lead: 'Chaque workload a ces liens, par exemple vers son tableau de bord. L’adresse peut avoir {id}, {name}, {cluster}, {environment} et {label:CLÉ} après l’hôte ; chacune est remplie par ce que l’on sait du workload.',
    name: 'Nom',
    url: 'Adresse',
    example: 'https://grafana.example.com/d/collectors?var-host={label:host.name}',
    add: 'Ajouter un lien',
    remove: (name: string) => (name === '' ? 'Retirer ce lien' : `Retirer ${name}`),
    none: 'Il n’y a pas encore de lien.',
    by: (who: string, when: string) => `Enregistré par ${who}, ${when}.`,
    unsaved: 'Rien n’a changé.',
    full: (max: number) => `Il peut y avoir ${max} liens.`,
  },
})
