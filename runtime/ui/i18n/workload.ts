import { type Split, splitOf, stagingOf } from '../../../lib/model/workload-states.ts'
import type { RunningConfigs, WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber, shortHash } from './format.ts'

const n = formatNumber

/** Texts of the page of one workload. */
export const workloadTexts = defineTexts({
  en: {
    tabs: {
      overview: 'Overview',
      instances: 'Instances',
      configuration: 'Configuration',
      health: 'Health',
      history: 'History',
      activity: 'Activity',
      alerts: 'Alerts',
    },
    tabsLabel: 'Views of this workload',
    propose: 'Propose a change',
    rollBack: 'Roll back',
    nothingToRollBack: 'No other config was ever applied here: there is nothing to go back to.',
    leaving: 'Leave the fleet',
    archive: 'Archive',
    archiveAsk: 'It leaves the default list. It comes back by itself when one of its instances connects.',
    delete: 'Delete for good',
    deleteAsk: (name: string) =>
      `This removes ${name} with its history, events, alerts and approvals. Instances that are still connected register as new, without what people set for it: trusted labels (and the freezes and scopes that go by them), a hold, values of variables, and that Git keeps it. Only who may lift these can delete it. Type the name to confirm.`,
    deleted: 'Deleted.',
    archivedDone: 'Archived.',
    managed: 'managed by supervisor',
    readOnly: 'read-only',
    sdk: 'SDK',
    facts: {
      instances: 'Instances',
      version: 'Version',
      config: 'Active config',
      wanted: 'Wanted config',
      pushed: 'Pushed',
      environment: 'Environment',
      seen: 'Last seen',
    },
    runIt: (count: number, all: number) =>
      count === 0 ? `no instance runs it` : `${n(count)} of ${n(all)} ${plural(count, 'runs', 'run')} it`,
    runOther: (count: number, hash: string) => `${n(count)} ${plural(count, 'runs', 'run')} ${hash}`,
    between: '; ',
    split: (count: number, hash: string, others: number) =>
      `${n(count)} ${plural(count, 'runs', 'run')} ${hash} of an aborted rollout${others === 0 ? '' : `, ${n(others)} what ${plural(others, 'it', 'they')} had`}`,
    inStages: (count: number, all: number, hash: string) =>
      `in stages: ${n(count)} of ${n(all)} ${plural(count, 'has', 'have')} the new ${hash}`,
    runUnknown: (count: number) =>
      `of ${n(count)} it is not known what ${plural(count, 'it runs', 'they run')}`,
    pushedBy: (who: string) => `by ${who}`,
    byRollback: 'by the automatic rollback',
    notManaged: 'not managed',
    noneActive: 'none assigned',
    noneWorks: (hash: string) => `none that works: ${hash} failed`,
    say: {
      archived: ['It is archived.', 'It returns to the fleet when an instance connects.'] as [string, string],
      disconnected: (ago: string): [string, string] => [
        `No instance is connected; the last one was seen ${ago}.`,
        'Check that the supervisor runs and reaches this service; if it is gone for good, archive it.',
      ],
      leaving: (ago: string): [string, string] => [
        `Its last instance left ${ago}.`,
        'It counts as disconnected when none comes back.',
      ],
      rolledBack: (
        count: number,
        total: number,
        cause: string,
        back: string,
        isOfCampaign: boolean,
      ): [string, string] => [
        `${count > 0 ? `The last config failed on ${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')}.` : 'The last config failed.'}`,
        [
          back,
          cause && `Cause: ${cause}.`,
          isOfCampaign
            ? 'A campaign brought it: see there whom else it failed on. A config that works here is a change of its own.'
            : 'Correct the draft and propose it again.',
        ]
          .filter(Boolean)
          .join(' '),
      ],
      pushFailed: (count: number, total: number, cause: string): [string, string] => [
        `The config failed on ${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')}.`,
        cause ? `Cause: ${cause}.` : '',
      ],
      someFailed: (count: number, total: number, isRollback: boolean) =>
        `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} cannot run the config${isRollback ? ' that was rolled back to' : ''}.`,
      someFailedWhy: (cause: string, applied: number, waiting: number) =>
        [
          cause && `Cause: ${cause}.`,
          `${n(applied)} applied it${waiting > 0 ? `, ${n(waiting)} ${plural(waiting, 'is', 'are')} not done yet` : ''}.`,
        ]
          .filter(Boolean)
          .join(' '),
      unhealthy: (
        count: number,
        total: number,
        first: string,
        what: string,
        error: string,
        since: string,
      ): [string, string] => [
        `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'is', 'are')} unhealthy${what && `: ${what}`}.`,
        `${error && `${error}${since && `, first ${since}`}. `}${first && `Look at the components of ${first} first.`}`,
      ],
      unhealthySince: (
        count: number,
        total: number,
        hash: string,
        ago: string,
        who: string,
        what: string,
        error: string,
        since: number,
      ): [string, string] => [
        `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'is', 'are')} unhealthy${since < count ? `, ${n(since)} of them` : ''} since config ${hash} was pushed (${ago} by ${who})${what && `: ${what}`}.`,
        `${error && `${error}. `}All were healthy before.`,
      ],
      complaint: (what: string, error: string): string => (error ? `${what && `${what}: `}${error}.` : ''),
      rolloutStalled: (stage: number) =>
        `The staged rollout halted in stage ${n(stage)}: nobody in it runs the config.`,
      rolloutHalted: (stage: number, what: string, allowed: string, now: number | null) =>
        `The staged rollout halted in stage ${n(stage)}: ${what}${now === null ? '' : ` (${n(now)} now)`}; ${allowed}.`,
      haltNext: (canGoBack: boolean) =>
        `The others keep what they ran. Look at the stage, then ${canGoBack ? 'continue, abort or roll back' : 'continue or abort'}.`,
      splitNext: 'Push one config to all: correct what the rollout brought, or propose another.',
      rollout: (applied: number): [string, string] => [
        `A staged rollout is under way: ${n(applied)} ${plural(applied, 'instance has', 'instances have')} the new config.`,
        '',
      ],
      silent: (total: number): [string, string] => [
        total === 1
          ? 'Its instance has not answered the last push.'
          : `None of its ${n(total)} instances has answered the last push.`,
        'Nobody knows what they run until they do. See whether their supervisors are up and report the status of remote configs, then push again or, where another config was applied before, roll back; a late answer still counts.',
      ],
      applying: (done: number, total: number) => `A config is being applied: ${n(done)} of ${n(total)} done.`,
      drifted: (count: number, total: number, cause: string): [string, string] => [
        `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'does', 'do')} not run the assigned config.`,
        `${cause && `Cause: ${cause}. `}See which ones, and what keeps them from taking it; then restart them, or propose a change.`,
      ],
      differs: (count: number, total: number, paths: string, since: string): [string, string] => [
        `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'reports', 'report')} to run something else than the assigned config${since && `, first seen ${since}`}.`,
        `${plural(count, 'It says that it', 'They say that they')} applied it${paths && `; what differs: ${paths}`}. Somebody may have changed it there: compare, then restart ${plural(count, 'it', 'them')} or propose a change. The same text is not sent again.`,
      ],
      degraded: ['It reports that something is wrong.', 'The health tree says what.'] as [string, string],
      approval: (count: number): [string, string] => [
        `${n(count)} ${plural(count, 'change waits', 'changes wait')} for approval.`,
        '',
      ],
      approved: (title: string, who: string, ago: string) =>
        `“${title}” is approved${who && ` by ${who}`} (${ago}) and waits for the push.`,
      readOnly: {
        not_a_collector: [
          'Configs cannot be pushed to it.',
          'It is an application’s SDK, not a collector.',
        ] as [string, string],
        no_remote_config: [
          'Configs cannot be pushed to it: no supervisor.',
          'It reports through its own extension. Run it under the OpAMP supervisor to manage its config.',
        ] as [string, string],
      },
      outdated: (version: string): [string, string] => [
        `Version ${version} is older than the minimum of this fleet.`,
        'Plan the upgrade.',
      ],
      nothingAssigned: [
        'It runs its own config; none was pushed from here.',
        'Propose a change to manage it.',
      ] as [string, string],
      fine: (total: number): [string, string] => [
        `All is well: ${n(total)} ${plural(total, 'instance runs', 'instances run')} the assigned config.`,
        '',
      ],
    },
    see: {
      campaign: 'See the campaign',
      configuration: 'See what it runs',
      correct: 'Correct it',
      instances: 'See the instances',
      health: 'See the health',
      push: 'See the push',
      approval: 'Review',
      toPush: 'To the push',
      history: 'See the history',
      stages: 'See the stages',
      versions: 'Compare versions',
      lines: 'See its lines in the config',
      others: 'Start from what the others run',
    },
    pipelines: 'Pipelines',
    noPipelines: 'There is no config to draw.',
    lastPush: 'Last push',
    noPush: 'Nothing was pushed yet.',
    pushCounts: (applied: number, failed: number, waiting: number) =>
      `${n(applied)} applied · ${n(failed)} failed · ${n(waiting)} waiting`,
    differ: 'Instances to look at',
    noneDiffer: 'No instance stands out.',
    moreAlike: (count: number) => `and ${n(count)} more`,
    labels: 'Labels',
    identity: 'Identity',
    identityKey: {} as Record<string, string>,
    odd: {
      failed: 'could not apply the config',
      unhealthy: 'unhealthy',
      applying: 'applying a config',
      differs: 'does not run what was asked',
      runs: (hash: string) => (hash ? `runs ${hash}` : 'has not applied what is assigned'),
      version: (version: string) => `version ${version}`,
      share: (count: number, value: string) => `${value} on ${n(count)}`,
      versions: (shares: string) => `They run different versions: ${shares}.`,
      configs: (shares: string) => `They run different configs: ${shares}.`,
      answers: (shares: string) => `The last config from here: ${shares}.`,
      answer: {
        no_status: 'no word yet',
        sent: 'no answer yet',
        applying: 'applying',
        applied: 'applied',
        failed: 'failed',
      },
      sick: (count: number) => `${n(count)} ${plural(count, 'is', 'are')} unhealthy.`,
      takes: (count: number) => `${n(count)} ${plural(count, 'is', 'are')} applying a config now.`,
      cannot: (count: number) => `${n(count)} could not apply a config.`,
      differ: (count: number) =>
        `${n(count)} ${plural(count, 'reports', 'report')} to run something else than what is assigned.`,
    },
    alike: 'The instances are alike.',
    column: {
      instance: 'Instance',
      uid: 'Uid',
      version: 'Version',
      health: 'Health',
      why: 'What is wrong',
      config: 'Config',
      matches: 'Runs what is asked',
      connected: 'Connected',
      message: 'Last message',
      when: 'When',
      author: 'By',
      status: 'State',
      counts: 'Applied',
      label: 'Label',
      hash: 'Config',
    },
    matches: { yes: 'yes', no: 'no', unknown: 'unknown' },
    mismatches: (paths: string) => `Differs at: ${paths}`,
    changedThere: 'changed there',
    cannotReport: 'cannot report',
    failedAlike: (count: number, why: string) =>
      `${n(count)} instances failed the config for one reason: ${why}.`,
    undescribed: 'not yet described',
    undescribedTitle:
      'It is connected and belongs here, but has not said what it is since the service started.',
    noInstances: 'No live instance.',
    order: 'Order',
    oddFirst: 'The odd ones first',
    noInstanceFits: 'No instance fits.',
    findInstance: 'Find instances by name, version, config or state',
    foundInstances: (found: number, all: number) => `${formatNumber(found)} of ${formatNumber(all)}`,
    transports: { websocket: 'WebSocket', http: 'HTTP' },
    health: {
      repeated: 'the same error as above',
      choices: (shown: number, all: number) =>
        `The first ${formatNumber(shown)} of ${formatNumber(all)} can be chosen, the unhealthy first: search to see others.`,
      of: 'Instance',
      none: 'This instance reports no health tree.',
      noInstance: 'No live instance, so no health.',
      since: 'since',
      reported: 'by its own clock,',
      over: 'Over',
      ahead: (time: string) =>
        `Its clock is ${time} ahead of the service’s: its times are not to be relied on.`,
      attributes: 'Attributes',
      effective: 'What it runs',
    },
  },
  fr: {
    tabs: {
      overview: 'Aperçu',
      instances: 'Instances',
      configuration: 'Configuration',
      health: 'Santé',
      history: 'Historique',
      activity: 'Activité',
      alerts: 'Alertes',
    },
    tabsLabel: 'Vues de ce workload',
    propose: 'Proposer une modification',
    rollBack: 'Revenir en arrière',
    nothingToRollBack: 'Aucune autre config n’a été appliquée ici : il n’y a rien à rétablir.',
    leaving: 'Quitter le parc',
    archive: 'Archiver',
    archiveAsk:
      'Il quitte la liste par défaut. Il y revient de lui-même quand une de ses instances se connecte.',
    delete: 'Supprimer définitivement',
    deleteAsk: (name: string) =>
      `Ceci supprime ${name} avec son historique, ses événements, alertes et approbations. Les instances encore connectées s’inscrivent à nouveau, sans ce que des personnes lui ont donné : étiquettes de confiance (avec les gels et périmètres qui en dépendent), retenue, valeurs de variables, et sa place dans Git. Seul qui peut lever tout cela peut le supprimer. Saisissez le nom pour confirmer.`,
    deleted: 'Supprimé.',
    archivedDone: 'Archivé.',
    managed: 'géré par superviseur',
    readOnly: 'lecture seule',
    sdk: 'SDK',
    facts: {
      instances: 'Instances',
      version: 'Version',
      config: 'Config active',
      wanted: 'Config voulue',
      pushed: 'Poussée',
      environment: 'Environnement',
      seen: 'Vu',
    },
    runIt: (count: number, all: number) =>
      count === 0
        ? `aucune instance ne l’exécute`
        : `${n(count)} sur ${n(all)} ${plural(count, 'l’exécute', 'l’exécutent')}`,
    runOther: (count: number, hash: string) => `${n(count)} ${plural(count, 'exécute', 'exécutent')} ${hash}`,
    between: '\u00a0; ',
    split: (count: number, hash: string, others: number) =>
      `${n(count)} ${plural(count, 'exécute', 'exécutent')} ${hash} d’un déploiement abandonné${others === 0 ? '' : `, ${n(others)} ce qu’${plural(others, 'elle avait', 'elles avaient')}`}`,
    inStages: (count: number, all: number, hash: string) =>
      `par étapes : ${n(count)} sur ${n(all)} ${plural(count, 'a', 'ont')} la nouvelle ${hash}`,
    runUnknown: (count: number) =>
      `pour ${n(count)}, on ne sait pas ce qu’${plural(count, 'elle exécute', 'elles exécutent')}`,
    pushedBy: (who: string) => `par ${who}`,
    byRollback: 'par le retour automatique',
    notManaged: 'non géré',
    noneActive: 'aucune assignée',
    noneWorks: (hash: string) => `aucune qui marche : ${hash} a échoué`,
    say: {
      archived: ['Il est archivé.', 'Il revient dans le parc quand une instance se connecte.'],
      disconnected: (ago: string): [string, string] => [
        `Aucune instance n’est connectée ; la dernière a été vue ${ago}.`,
        'Vérifiez que le superviseur tourne et atteint ce service ; s’il a disparu pour de bon, archivez-le.',
      ],
      leaving: (ago: string): [string, string] => [
        `Sa dernière instance est partie ${ago}.`,
        'Il comptera comme déconnecté si aucune ne revient.',
      ],
      rolledBack: (
        count: number,
        total: number,
        cause: string,
        back: string,
        isOfCampaign: boolean,
      ): [string, string] => [
        `${count > 0 ? `La dernière config a échoué sur ${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)}.` : 'La dernière config a échoué.'}`,
        [
          back,
          cause && `Cause : ${cause}.`,
          isOfCampaign
            ? 'Une campagne l’a apportée : voyez-y sur qui d’autre elle a échoué. Une config qui marche ici est une modification à part.'
            : 'Corrigez le brouillon et proposez-le à nouveau.',
        ]
          .filter(Boolean)
          .join(' '),
      ],
      pushFailed: (count: number, total: number, cause: string): [string, string] => [
        `La config a échoué sur ${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)}.`,
        cause ? `Cause : ${cause}.` : '',
      ],
      someFailed: (count: number, total: number, isRollback: boolean) =>
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} ${plural(count, 'ne peut', 'ne peuvent')} pas exécuter la config${isRollback ? ' rétablie' : ''}.`,
      someFailedWhy: (cause: string, applied: number, waiting: number) =>
        [
          cause && `Cause : ${cause}.`,
          `${n(applied)} ${plural(applied, 'l’a', 'l’ont')} appliquée${waiting > 0 ? `, ${n(waiting)} ${plural(waiting, 'n’a', 'n’ont')} pas encore fini` : ''}.`,
        ]
          .filter(Boolean)
          .join(' '),
      unhealthy: (
        count: number,
        total: number,
        first: string,
        what: string,
        error: string,
        since: string,
      ): [string, string] => [
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en défaut${what && ` : ${what}`}.`,
        `${error && `${error}${since && `, d’abord ${since}`}. `}${first && `Regardez d’abord les composants de ${first}.`}`,
      ],
      unhealthySince: (
        count: number,
        total: number,
        hash: string,
        ago: string,
        who: string,
        what: string,
        error: string,
        since: number,
      ): [string, string] => [
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en défaut${since < count ? `, dont ${n(since)},` : ''} depuis la poussée de la config ${hash} (${ago} par ${who})${what && ` : ${what}`}.`,
        `${error && `${error}. `}Toutes allaient bien auparavant.`,
      ],
      complaint: (what: string, error: string): string => (error ? `${what && `${what} : `}${error}.` : ''),
      rolloutStalled: (stage: number) =>
        `Le déploiement par étapes s’est arrêté à l’étape ${n(stage)} : personne n’y fait tourner la config.`,
      rolloutHalted: (stage: number, what: string, allowed: string, now: number | null) =>
        `Le déploiement par étapes s’est arrêté à l’étape ${n(stage)} : ${what}${now === null ? '' : ` (${n(now)} maintenant)`} ; ${allowed}.`,
      haltNext: (canGoBack: boolean) =>
        `Les autres gardent ce qu’elles exécutaient. Voyez l’étape, puis ${canGoBack ? 'continuez, abandonnez ou revenez en arrière' : 'continuez ou abandonnez'}.`,
      splitNext:
        'Poussez une même config à toutes : corrigez celle du déploiement, ou proposez-en une autre.',
      rollout: (applied: number): [string, string] => [
        `Un déploiement par étapes est en cours : ${n(applied)} ${plural(applied, 'instance a', 'instances ont')} la nouvelle config.`,
        '',
      ],
      silent: (total: number): [string, string] => [
        total === 1
          ? 'Son instance n’a pas répondu à la dernière poussée.'
          : `Aucune de ses ${n(total)} instances n’a répondu à la dernière poussée.`,
        'On ne sait pas ce qu’elles exécutent tant qu’elles se taisent. Voyez si leurs superviseurs tournent et rapportent l’état des configs distantes, puis poussez de nouveau ou, si une autre config y fut appliquée, revenez en arrière ; une réponse tardive compte encore.',
      ],
      applying: (done: number, total: number) =>
        `Une config est en cours d’application : ${n(done)} sur ${n(total)}.`,
      drifted: (count: number, total: number, cause: string): [string, string] => [
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} ${plural(count, 'n’exécute', 'n’exécutent')} pas la config assignée.`,
        `${cause && `Cause : ${cause}. `}Voyez lesquelles, et ce qui les en empêche ; puis redémarrez-les, ou proposez un changement.`,
      ],
      differs: (count: number, total: number, paths: string, since: string): [string, string] => [
        `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} ${plural(count, 'signale', 'signalent')} exécuter autre chose que la config assignée${since && `, vu ${since}`}.`,
        `${plural(count, 'Elle dit', 'Elles disent')} l’avoir appliquée${paths && ` ; diffère : ${paths}`}. Quelqu’un l’a peut-être changée sur place : comparez, puis ${plural(count, 'redémarrez-la', 'redémarrez-les')} ou proposez un changement. Le même texte n’est pas renvoyé.`,
      ],
      degraded: ['Il signale que quelque chose ne va pas.', 'L’arbre de santé dit quoi.'],
      approval: (count: number): [string, string] => [
        `${n(count)} ${plural(count, 'modification attend', 'modifications attendent')} une approbation.`,
        '',
      ],
      approved: (title: string, who: string, ago: string) =>
        `« ${title} » est approuvée${who && ` par ${who}`} (${ago}) et attend la poussée.`,
      readOnly: {
        not_a_collector: [
          'On ne peut pas lui pousser de config.',
          'C’est le SDK d’une application, pas un collecteur.',
        ],
        no_remote_config: [
          'On ne peut pas lui pousser de config : pas de superviseur.',
          'Il parle par sa propre extension. Lancez-le sous le superviseur OpAMP pour gérer sa config.',
        ],
      },
      outdated: (version: string): [string, string] => [
        `La version ${version} est plus ancienne que le minimum de ce parc.`,
        'Prévoyez la mise à niveau.',
      ],
      nothingAssigned: [
        'Il exécute sa propre config ; aucune n’a été poussée d’ici.',
        'Proposez une modification pour le gérer.',
      ],
      fine: (total: number): [string, string] => [
        `Tout va bien : ${n(total)} ${plural(total, 'instance exécute', 'instances exécutent')} la config assignée.`,
        '',
      ],
    },
    see: {
      campaign: 'Voir la campagne',
      configuration: 'Voir ce qu’elle exécute',
      correct: 'La corriger',
      instances: 'Voir les instances',
      health: 'Voir la santé',
      push: 'Voir la poussée',
      approval: 'Examiner',
      toPush: 'Vers la poussée',
      stages: 'Voir les étapes',
      history: 'Voir l’historique',
      versions: 'Comparer les versions',
      lines: 'Voir ses lignes dans la config',
      others: 'Partir de ce que les autres exécutent',
    },
    pipelines: 'Pipelines',
    noPipelines: 'Il n’y a pas de config à dessiner.',
    lastPush: 'Dernière poussée',
    noPush: 'Rien n’a encore été poussé.',
    pushCounts: (applied: number, failed: number, waiting: number) =>
      `${n(applied)} ${plural(applied, 'appliquée', 'appliquées')} · ${n(failed)} ${plural(failed, 'échouée', 'échouées')} · ${n(waiting)} en attente`,
    differ: 'Instances à regarder',
    noneDiffer: 'Aucune instance ne se distingue.',
    moreAlike: (count: number) => `et ${n(count)} de plus`,
    labels: 'Étiquettes',
    identity: 'Identité',
    identityKey: { name: 'nom', kind: 'genre', namespace: 'espace de noms' },
    odd: {
      failed: 'n’a pas pu appliquer la config',
      unhealthy: 'en défaut',
      applying: 'applique une config',
      differs: 'n’exécute pas ce qui est demandé',
      runs: (hash: string) => (hash ? `exécute ${hash}` : 'n’a pas appliqué l’assignée'),
      version: (version: string) => `version ${version}`,
      share: (count: number, value: string) => `${value} sur ${n(count)}`,
      versions: (shares: string) => `Elles ont des versions différentes : ${shares}.`,
      configs: (shares: string) => `Elles exécutent des configs différentes : ${shares}.`,
      answers: (shares: string) => `La dernière config d’ici : ${shares}.`,
      answer: {
        no_status: 'sans nouvelles',
        sent: 'pas encore de réponse',
        applying: 'en application',
        applied: 'appliquée',
        failed: 'échouée',
      },
      sick: (count: number) => `${n(count)} ${plural(count, 'est', 'sont')} en défaut.`,
      takes: (count: number) =>
        `${n(count)} ${plural(count, 'applique', 'appliquent')} une config en ce moment.`,
      cannot: (count: number) => `${n(count)} ${plural(count, 'n’a', 'n’ont')} pas pu appliquer une config.`,
      differ: (count: number) =>
        `${n(count)} ${plural(count, 'signale', 'signalent')} exécuter autre chose que ce qui est assigné.`,
    },
    alike: 'Les instances se ressemblent.',
    column: {
      instance: 'Instance',
      uid: 'Uid',
      version: 'Version',
      health: 'Santé',
      why: 'Ce qui ne va pas',
      config: 'Config',
      matches: 'Exécute ce qui est demandé',
      connected: 'Connectée',
      message: 'Dernier message',
      when: 'Quand',
      author: 'Par',
      status: 'État',
      counts: 'Appliquée',
      label: 'Libellé',
      hash: 'Config',
    },
    matches: { yes: 'oui', no: 'non', unknown: 'inconnu' },
    mismatches: (paths: string) => `Diffère à : ${paths}`,
    changedThere: 'modifiée sur place',
    cannotReport: 'ne rend pas compte',
    failedAlike: (count: number, why: string) =>
      `${n(count)} instances ont échoué sur la config pour une même raison : ${why}.`,
    undescribed: 'pas encore décrite',
    undescribedTitle:
      'Elle est connectée et en fait partie, mais n’a pas dit ce qu’elle est depuis le démarrage du service.',
    noInstances: 'Aucune instance vivante.',
    order: 'Ordre',
    oddFirst: 'Ce qui sort du lot d’abord',
    noInstanceFits: 'Aucune instance ne correspond.',
    findInstance: 'Chercher par nom, version, config ou état',
    foundInstances: (found: number, all: number) => `${formatNumber(found)} sur ${formatNumber(all)}`,
    transports: { websocket: 'WebSocket', http: 'HTTP' },
    health: {
      repeated: 'la même erreur que plus haut',
      choices: (shown: number, all: number) =>
        `Les ${formatNumber(shown)} premières sur ${formatNumber(all)} sont proposées, celles en défaut d’abord ; cherchez pour voir les autres.`,
      of: 'Instance',
      none: 'Cette instance ne donne pas d’arbre de santé.',
      noInstance: 'Aucune instance vivante, donc pas de santé.',
      since: 'depuis',
      reported: 'à son horloge,',
      over: 'Par',
      ahead: (time: string) =>
        `Son horloge avance de ${time} sur celle du service : ses heures ne sont pas fiables.`,
      attributes: 'Attributs',
      effective: 'Ce qu’elle exécute',
    },
  },
})

/** How an aborted rollout left a workload: the one sentence that every page says of it. */
export const describeSplit = ({ hash, count, total }: Split): string =>
  say(workloadTexts).split(count, shortHash(hash), Math.max(0, total - count))

/** What the instances of a workload run, where not all of them run what it is to run. */
export function describeRunning(
  workload: WorkloadRecord,
  { wanted_count, instance_count, unknown_count, others }: RunningConfigs,
): string {
  const words = say(workloadTexts)
  const split = splitOf(workload)
  if (split !== null) return describeSplit(split)
  const staging = stagingOf(workload)
  if (staging !== null) return words.inStages(staging.count, staging.total, shortHash(staging.hash))
  return [
    words.runIt(wanted_count, instance_count),
    ...others.map((other) => words.runOther(other.instance_count, shortHash(other.config_hash))),
    ...(unknown_count > 0 ? [words.runUnknown(unknown_count)] : []),
  ].join(words.between)
}
