import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber

/** The processes that serve a fleet. */
export const clusterTexts = defineTexts({
  en: {
    alone:
      'One process serves this fleet. Processes that stand by are not listed: they serve nobody until it stops. With MUSTER_INTERNAL_ADDR set, several serve it together.',
    lead: 'Every process serves agents, browsers and the API; the owner decides, the others pass on to it.',
    owner: 'Owner',
    since: 'Decides since',
    takeovers: 'Takeovers',
    takeoversSeen: (count: number) => (count === 0 ? 'none' : n(count)),
    servesYou: 'serves you',
    agents: 'Agents',
    places: (websocket: number, polling: number, awaited: number) =>
      [
        `${n(websocket + polling + awaited)}: ${n(websocket)} on WebSockets of these processes, ${n(polling)} that poll over HTTP`,
        ...(awaited > 0 ? [`${n(awaited)} awaited after their connection ended`] : []),
      ].join(', '),
    processAt: (host: string, pid: number) => `${host}, process ${pid}`,
    departed: 'Gone in the last hour',
    left: 'stopped in order',
    vanished: 'vanished',
    until: 'was here until',
    departedMore:
      'As the owner saw it since it started itself, like the takeovers. One that falls silent is listed above as missing for a minute, and then here.',
    legend: 'What the words say',
    explained: {
      link: 'Since when this process has its way to the owner.',
      agents: 'Agents on its WebSockets. Those that poll over HTTP belong to no process.',
      waiting: 'Agents and reports of which the owner has yet to hear; usually none.',
      absorbed: 'Heartbeats that it answered without asking the owner, since it started.',
      forwarded: 'Messages of agents that it passed on to the owner, since it started.',
      replayed: 'Agents of which it told a new owner, after another process had taken over.',
    },
    stateExplained: {
      owner: 'Decides: what is pushed, and what is stored.',
      front: 'Keeps agents and browsers, and passes on to the owner what it cannot answer itself.',
      unlinked: 'Runs, and does not reach the owner.',
      silent: 'Has not been heard of for four seconds or more.',
    },
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
    missingWithout: (names: string, count: number) =>
      `${names} ${plural(count, 'has', 'have')} not been heard of for some seconds: ${plural(count, 'its', 'their')} agents are with the other processes, or awaited there.`,
    unlinked: (names: string, count: number) =>
      `${names} ${plural(count, 'has', 'have')} no link to the owner, so the agents there are not counted. ${plural(count, 'If it runs, it keeps', 'Those that run keep')} them for thirty seconds and then ${plural(count, 'sends', 'send')} them elsewhere; those of one that has ended connect to another one by themselves.`,
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
    takeovers: 'Prises de relais',
    takeoversSeen: (count: number) => (count === 0 ? 'aucune' : n(count)),
    servesYou: 'vous sert',
    agents: 'Agents',
    places: (websocket: number, polling: number, awaited: number) =>
      [
        `${n(websocket + polling + awaited)} : ${n(websocket)} sur les WebSockets de ces processus, ${n(polling)} qui interrogent par HTTP`,
        ...(awaited > 0 ? [`${n(awaited)} attendus après la fin de leur connexion`] : []),
      ].join(', '),
    processAt: (host: string, pid: number) => `${host}, processus ${pid}`,
    departed: 'Partis dans la dernière heure',
    left: 'arrêté en ordre',
    vanished: 'disparu',
    until: 'présent jusqu’à',
    departedMore:
      'Tel que le propriétaire l’a vu depuis son propre démarrage, comme les prises de relais. Un processus qui se tait est d’abord indiqué comme manquant pendant une minute, puis ici.',
    legend: 'Ce que disent les mots',
    explained: {
      link: 'Depuis quand ce processus a son lien avec le propriétaire.',
      agents: 'Agents sur ses WebSockets. Ceux qui interrogent par HTTP n’appartiennent à aucun processus.',
      waiting: 'Agents et rapports dont le propriétaire n’a pas encore connaissance ; en général aucun.',
      absorbed: 'Battements auxquels il a répondu sans demander au propriétaire, depuis son démarrage.',
      forwarded: 'Messages d’agents qu’il a transmis au propriétaire, depuis son démarrage.',
      replayed: 'Agents qu’il a annoncés à un nouveau propriétaire, après une prise de relais.',
    },
    stateExplained: {
      owner: 'Décide de ce qui est envoyé et enregistré.',
      front: 'Garde agents et navigateurs, et transmet au propriétaire ce à quoi il ne peut répondre seul.',
      unlinked: 'Est en marche et n’atteint pas le propriétaire.',
      silent: 'N’a pas donné signe depuis quatre secondes ou plus.',
    },
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
    missingWithout: (names: string, count: number) =>
      `${names} ${plural(count, 'n’a', 'n’ont')} plus donné signe depuis quelques secondes : ${plural(count, 'ses', 'leurs')} agents sont chez les autres processus, ou y sont attendus.`,
    unlinked: (names: string, count: number) =>
      `${names} ${plural(count, 'n’a', 'n’ont')} pas de lien avec le propriétaire, et ${plural(count, 'ses', 'leurs')} agents ne sont pas comptés. Un processus en marche garde les siens trente secondes, puis les envoie ailleurs ; ceux d’un processus arrêté se connectent d’eux-mêmes à un autre.`,
    waits: (name: string, older: string, count: number) =>
      `${name} est d’une version plus récente, qui modifie la base de données de sorte que ${older} ne ${plural(count, 'fonctionnerait', 'fonctionneraient')} plus. Il sert, et ne décide pas avant ${plural(count, 'l’arrêt de celui-ci', 'l’arrêt de ceux-ci')}.`,
    versions: (versions: string) => `Des processus de versions différentes sont en marche : ${versions}.`,
  },
})
