import { defineTexts, plural } from './define.ts'

/** The processes that serve a fleet. */
export const clusterTexts = defineTexts({
  en: {
    alone:
      'One process serves this fleet. Processes that stand by are not listed: they serve nobody until it stops. With MUSTER_INTERNAL_ADDR set, several serve it together.',
    lead: 'Every process serves agents, browsers and the API; the owner decides, the others pass on to it.',
    owner: 'Owner',
    since: 'Decides since',
    epoch: 'Takeovers so far',
    agents: 'Agents on their WebSockets',
    list: 'Processes',
    column: {
      process: 'Process',
      state: 'State',
      version: 'Version',
      started: 'Started',
      link: 'Link since',
      agents: 'Agents',
      waiting: 'Waiting',
      absorbed: 'Answered alone',
      forwarded: 'Passed on',
      replayed: 'Told again',
    },
    state: { owner: 'owner', front: 'front', unlinked: 'no link', silent: 'missing' },
    missing: (names: string, count: number) =>
      `${names} ${plural(count, 'has', 'have')} not been heard of for some seconds: ${plural(count, 'its', 'their')} agents go to other processes once ${plural(count, 'its', 'their')} sockets end.`,
    unlinked: (names: string, count: number) =>
      `${names} ${plural(count, 'has', 'have')} no link to the owner: ${plural(count, 'its', 'their')} agents are kept for thirty seconds, then they are sent elsewhere.`,
    waits: (name: string, older: string, count: number) =>
      `${name} is of a newer version, which changes the database so that ${older} would break. It serves, and does not decide before ${plural(count, 'this one has', 'these have')} stopped.`,
    versions: (versions: string) => `Processes of different versions run: ${versions}.`,
  },
  fr: {
    alone:
      'Un seul processus sert ce parc. Ceux qui sont en attente ne sont pas dans la liste : ils ne servent personne avant qu’il s’arrête. Avec MUSTER_INTERNAL_ADDR, plusieurs le servent ensemble.',
    lead: 'Chaque processus sert les agents, les navigateurs et l’API ; le propriétaire décide, les autres lui transmettent.',
    owner: 'Propriétaire',
    since: 'Décide depuis',
    epoch: 'Prises de relais',
    agents: 'Agents sur leurs WebSockets',
    list: 'Processus',
    column: {
      process: 'Processus',
      state: 'État',
      version: 'Version',
      started: 'Démarré',
      link: 'Lien depuis',
      agents: 'Agents',
      waiting: 'En attente',
      absorbed: 'Répondu seul',
      forwarded: 'Transmis',
      replayed: 'Redit',
    },
    state: { owner: 'propriétaire', front: 'frontal', unlinked: 'sans lien', silent: 'manquant' },
    missing: (names: string, count: number) =>
      `${names} ${plural(count, 'n’a', 'n’ont')} plus donné signe depuis quelques secondes : ${plural(count, 'ses', 'leurs')} agents vont aux autres processus quand ${plural(count, 'ses', 'leurs')} connexions se terminent.`,
    unlinked: (names: string, count: number) =>
      `${names} ${plural(count, 'n’a', 'n’ont')} pas de lien avec le propriétaire : ${plural(count, 'ses', 'leurs')} agents sont gardés trente secondes, puis envoyés ailleurs.`,
    waits: (name: string, older: string, count: number) =>
      `${name} est d’une version plus récente, qui modifie la base de données de sorte que ${older} ne ${plural(count, 'fonctionnerait', 'fonctionneraient')} plus. Il sert, et ne décide pas avant ${plural(count, 'l’arrêt de celui-ci', 'l’arrêt de ceux-ci')}.`,
    versions: (versions: string) => `Des processus de versions différentes sont en marche : ${versions}.`,
  },
})
