import type { RetiredBy } from '../../../lib/model/retired-by.ts'
import { deadEndOf } from '../../../lib/model/workload-states.ts'
import type { RiskScore } from '../../../lib/wire/plan.ts'
import type { PolicyEvaluation } from '../../../lib/wire/policy.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { translated } from './check-findings.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber, shortHash } from './format.ts'

const n = formatNumber

const COMPONENTS_FR: Readonly<Record<string, string>> = {
  receiver: 'le récepteur',
  processor: 'le processeur',
  exporter: 'l’exporteur',
  connector: 'le connecteur',
  extension: 'l’extension',
}
const SIGNALS_FR: Readonly<Record<string, string>> = {
  traces: 'les traces',
  metrics: 'les métriques',
  logs: 'les journaux',
  profiles: 'les profils',
}

/** A component with its kind in front, such as `exporter otlphttp`, in French. */
function componentFr(name: string): string {
  const [kind = '', ...id] = name.split(' ')
  const known = COMPONENTS_FR[kind]
  return known === undefined ? name : [known, ...id].join(' ')
}

/** A signal in French; a pipeline that has a name of its own keeps it. */
const signalFr = (signal: string): string => SIGNALS_FR[signal] ?? signal

/** Texts of a change: the draft, its checks, its request and the push. */
export const changeTexts = defineTexts({
  en: {
    title: (name: string) => `Change ${name}`,
    outside: {
      title: (name: string) => `A request for ${name}`,
      what: (name: string) =>
        `This is the address of a request for another config of ${name}. Its text, its comments and what became of it are shown to whoever may request changes there.`,
      noRight: 'Your role may not request changes, so it sees no requests.',
      bound: (scopes: string, here: string) => `You may do so only where ${scopes}. Here ${here}.`,
      ask: (groups: string) =>
        `Whoever manages the users can widen what your groups${groups === '' ? '' : ` (${groups})`} reach, or have the workload labelled otherwise.`,
      askWho: (who: string) => `About the config itself ask ${who}, who pushed the one that it has now.`,
      toWorkload: (name: string) => `To ${name}`,
      toRights: 'What I may do',
    },
    edit: 'Edit',
    compare: 'Compare with what runs',
    draft: 'Draft',
    startTemplate: 'Start from a template',
    discard: 'Start over',
    bringBack: 'Bring back my draft',
    failedAt: (line: number, why: string) => `Line ${n(line)} still has what it failed of: ${why}.`,
    failedOf: (why: string) => `The config failed of this: ${why}.`,
    keptHere: 'Your draft is kept in this tab only.',
    checks: 'Checks',
    checking: 'Checking…',
    check: {
      yaml_static: 'YAML',
      collector_structure: 'Structure',
      component_availability: 'Components',
      collector_version_compatibility: 'Version',
      otelcol_runtime: 'Trial run by a collector',
    },
    skipped: 'not run',
    what: 'What it does',
    nothingChanged: 'The draft is the same as what is active.',
    sameAsReported: 'The draft is the same as what its instances report to run.',
    noMeaning: 'Nothing that changes what the collector does: comments, order of keys or blanks.',
    draftNotKept:
      'The text that was asked for is not kept any more: the request ended long ago, or many others since, and nobody pushed it.',
    beforeNotKept: 'What it replaced was what the instances reported then, and that is not kept.',
    firstConfig:
      'This is the first config for this workload, and no instance reports what it runs: there is nothing to compare it with.',
    risk: { none: 'no risk seen', low: 'low risk', medium: 'medium risk', high: 'high risk' },
    fillIn: 'To fill in',
    fillInLead:
      'The template leaves these to you. Write the value itself, or ${env:NAME} for a variable of the collector’s environment, which is where secrets belong.',
    fillInGo: 'Put in',
    fillInNothing: 'Write at least one value.',
    riskUnknown: 'risk not known',
    notCompared: 'not compared: what runs is not known',
    notComparedAway: 'not compared: nothing is connected',
    checkUnknown: 'not known: nothing is connected',
    againstReported: 'It is compared with what the instances report to run.',
    takesOver:
      'The push takes that over: it is replaced whole by this text, and there is no earlier config to go back to.',
    notOurs: {
      never: 'Nothing was pushed here yet.',
      failed: (hash: string) => `${hash} was pushed and failed, with nothing to go back to.`,
      none: 'No config that was pushed here is active.',
    },
    startsBroken: (hash: string, failed: number, total: number) =>
      total > 0
        ? `The draft starts from ${hash}, which failed on ${n(failed)} of ${n(total)} ${plural(total, 'instance', 'instances')}. No instance is to run it.`
        : `The draft starts from ${hash}, which failed. No instance is to run it.`,
    brokenUnknown: 'What the instances run now is not known.',
    policy: 'Policy',
    policyPass: 'Nothing in the policy speaks against it.',
    policyBlocks: (rules: readonly string[]) => `The policy blocks the push: ${rules.join('; ')}.`,
    reach: 'It will reach',
    instancesWord: (count: number) => plural(count, 'instance', 'instances'),
    excludedWord: 'excluded',
    environmentWord: 'environment',
    production: 'production',
    reachesProduction: 'This is production: the push asks for it in writing.',
    reachStages: (sizes: string) => `In stages, unless whoever pushes asks for all at once: ${sizes}`,
    reachAtOnce: 'All at once, unless whoever pushes asks for stages.',
    reachNames: 'Which instances',
    reachMore: (count: number) => `and ${n(count)} more`,
    excluded: {
      read_only: 'takes no configs',
      not_a_collector: 'not a collector',
      component_missing: 'lacks a component',
      missing_component: 'lacks a component',
      non_collector: 'not a collector',
      workload_offline: 'not connected',
      validation_failed: 'the draft is not valid',
      empty_config: 'the draft is empty',
      all_targets_excluded: 'nobody would receive it',
      config_policy_blocked: 'a policy blocks it',
    } as Record<string, string>,
    signals: 'Signals touched',
    exporters: 'Exporters touched',
    services: 'Services in reach',
    complains: (line: number) => `Line ${line} fails in what runs:`,
    complainsChanged: 'Fails in what runs; this draft changes it:',
    comment: 'Comment for the reviewer',
    commentHint: 'Its first line is what the request is called everywhere.',
    group: 'Target group',
    groupHint:
      'Optional: any name, such as edge. A new request takes the place of the one that waits for the same group; those for others wait beside it.',
    environment: 'Target environment',
    prodConfirm: 'I know that this reaches production.',
    request: 'Request approval',
    requested: 'Requested. It waits for approval.',
    mustBeValid: 'The draft has errors; the checks say which.',
    mustChange: 'The draft is empty.',
    mustConfirm: 'Confirm that this reaches production.',
    review: 'Review',
    requestedBy: (who: string) => `requested by ${who}`,
    state: {
      pending: 'waiting for approval',
      approved: 'approved, waits for the push',
      pushed: 'pushed',
      rejected: 'rejected',
      withdrawn: 'withdrawn',
      retired: 'overtaken',
    },
    pushedApplied: 'pushed and applied',
    story: 'What happened',
    step: {
      requested: 'Requested',
      commented: 'Commented',
      approved: 'Approved',
      rejected: 'Rejected',
      withdrawn: 'Withdrawn',
      retired: 'Overtaken',
      pushed: 'Pushed',
      break_glass_pushed: 'Pushed by breaking the glass',
    },
    askChanges: 'Ask for changes',
    changesNeedComment: 'Write a comment: what should be changed first?',
    commented: 'Said. The request still waits.',
    commentedApproved: 'Said. It is approved all the same, and whoever pushes it is shown this.',
    reject: 'Reject',
    rejectLead: 'It is over with this: nobody can approve or push it any more. A new draft can be requested.',
    rejectNeedsComment: 'Say why it is rejected.',
    rejected: 'Rejected.',
    withdraw: 'Withdraw',
    withdrawLead: 'It is taken back: nobody can approve or push it any more. A new draft can be requested.',
    withdrawn: 'Withdrawn.',
    endComment: 'Why',
    over: {
      rejected: 'This request was rejected. It cannot be pushed.',
      withdrawn: 'This request was withdrawn. It cannot be pushed.',
      retired: 'Something newer took its place. It cannot be pushed.',
    },
    retiredBy: {
      request: () => 'A newer request took its place.',
      campaign: (name: string) => `The campaign “${name}” changed the workload after it.`,
      campaign_roll_back: (name: string) => `The campaign “${name}” was rolled back after it.`,
      auto_apply: (name: string, version: number) =>
        `Version ${version} of “${name}” came to the workload by itself after it.`,
      rollback: () => 'The workload was rolled back after it.',
    } satisfies Record<RetiredBy, (name: string, version: number) => string>,
    seeWhat: 'See what took its place',
    nothingChanges: 'The draft is what is active already.',
    moved: (hash: string, who: string) =>
      `The active config has changed since this draft was begun: it is ${hash} now${who === '' ? '' : `, pushed by ${who}`}.`,
    movedAway: 'What was active when this draft was begun does not run any more.',
    movedMore:
      'The comparison is still with the one before. Requested as it is, the draft may take back what somebody else has changed.',
    takeNew: 'Compare with what is active now',
    mustCompare: 'Compare it first with what is active now.',
    baseMoved:
      'The active config has changed since this was requested. The comparison below is with what is active now.',
    self: 'approved by its own author',
    endsAt: (day: string) => `It ends by itself on ${day} if nobody says anything about it until then.`,
    byAnother: 'Whoever requested it does not count.',
    approvalsShort:
      'It was approved and is no more: an approval got too old, or its approver lost the right.',
    soleApprover: 'approved while nobody else could',
    overtakenApprovals: (who: string) =>
      `Something else was pushed to the workload after ${who} approved this: that approval counts again once it is given again.`,
    approve: 'Approve',
    approveComment: 'Your comment',
    approveNeedsComment: 'Write a comment: what did you check?',
    approved: 'Approved.',
    approvedByAll: (names: string) => `Approved by ${names}.`,
    push: 'Push',
    pushReach: (name: string, environment: string, count: number, stages: readonly number[] | null) =>
      `To ${name}${environment && `, ${environment}`}: ${formatNumber(count)} ${plural(count, 'instance', 'instances')}${stages ? ` in ${formatNumber(stages.length)} stages (${stages.map((size) => formatNumber(size)).join(', ')})` : ', all at once'}.`,
    pushNow: 'Push now',
    pushComment: (isNeeded: boolean) => `Comment for the record${isNeeded ? '' : ' (optional)'}`,
    pushNeedsComment: 'A push to production needs a comment.',
    pushNeedsApproval: 'It must be approved first.',
    pushTyped: (name: string) => `This reaches production. Type ${name} to confirm.`,
    pushed: 'Pushed.',
    breakGlass: 'Break glass',
    breakGlassLead:
      'Push without approval. Use it when waiting would do more harm: it is recorded under your name with your reason, and policies still hold.',
    breakFreezeLead:
      'Push it though the workload is frozen. Use it when waiting would do more harm: it is recorded under your name with your reason, and policies still hold.',
    breakGlassReason: 'Why it cannot wait',
    breakGlassGo: 'Push without approval',
    breakFreezeGo: 'Push in spite of the freeze',
    breakGlassNeeds: 'Say why it cannot wait.',
    wasBreakGlass: 'pushed by breaking the glass',
    notFound: 'This request no longer waits: a newer one replaced it, or its workload is gone.',
    editAgain: 'Edit as a new draft',
    stages: 'Roll out in stages',
    stagesSuggested: 'Suggested: a high risk in production. Without it, all get it at once.',
    stagesLeft: 'A high risk in production, to all at once: nothing halts it before all have it.',
    stageShares: 'Shares of the instances, in percent',
    stageHint: 'For example 10, 50. The rest follows as the last stage.',
    stageFault: 'Write shares between 0 and 100, such as 10, 50.',
    stageDwellFault: 'Write whole seconds, at most a week.',
    stagePreview: (sizes: readonly number[], total: number) =>
      `${[...new Set(sizes)].map((size) => n(size)).join(', then ')} of ${n(total)} ${plural(total, 'instance', 'instances')}.`,
    stageDwell: 'Wait after each stage, in seconds',
    stageGates: 'Stop when',
    gates: { no_failure: 'an instance fails', health: 'health gets worse', drift: 'instances drift' },
    seePush: 'See the push',
    summary: {
      addsComponent: (name: string) => `adds ${name}`,
      addsDestination: (name: string, to: string) => `adds ${name}, which sends to ${to}`,
      addsSampler: (name: string, percent: number, signals: string) =>
        `adds ${name}, which keeps ${n(percent)} % of ${signals}`,
      removesComponent: (name: string) => `removes ${name}`,
      renames: (name: string, to: string) => `renames ${name} to ${to}`,
      changesField: (path: string, before: string | null, after: string | null) =>
        before === null
          ? `sets ${path}${after === '' ? '' : ` to ${after}`}`
          : after === null
            ? `removes ${path}${before === '' ? '' : ` (was ${before})`}`
            : before === after || before === '' || after === ''
              ? `changes ${path}`
              : `changes ${path}: ${before} → ${after}`,
      addsPipeline: (name: string) => `adds the pipeline ${name}`,
      removesPipeline: (name: string) => `removes the pipeline ${name}`,
      routes: (signal: string, name: string) => `routes ${signal} to ${name}`,
      unroutes: (signal: string, name: string) => `no longer routes ${signal} to ${name}`,
      reorders: (name: string) => `changes the order in ${name}`,
      keeps: (signal: string) => `keeps ${signal} as it is`,
      losesSignal: (signal: string) => `sends ${signal} nowhere any more: no pipeline is left for them`,
    },
    rule: {} as Record<string, string>,
    // What the service advises, in English.
    advice: {} as Record<string, string>,
  },
  fr: {
    title: (name: string) => `Modifier ${name}`,
    outside: {
      title: (name: string) => `Une demande pour ${name}`,
      what: (name: string) =>
        `C’est l’adresse d’une demande d’une autre config pour ${name}. Son texte, ses commentaires et son issue se montrent à qui peut y demander des changements.`,
      noRight: 'Votre rôle ne peut pas demander de changements ; il n’en voit donc pas les demandes.',
      bound: (scopes: string, here: string) => `Vous ne le pouvez que là où ${scopes}. Ici, ${here}.`,
      ask: (groups: string) =>
        `Qui gère les utilisateurs peut élargir ce que vos groupes${groups === '' ? '' : ` (${groups})`} atteignent, ou faire étiqueter autrement le workload.`,
      askWho: (who: string) => `Sur la config elle-même, demandez à ${who}, qui a poussé l’actuelle.`,
      toWorkload: (name: string) => `Vers ${name}`,
      toRights: 'Ce que je peux faire',
    },
    edit: 'Éditer',
    compare: 'Comparer à l’active',
    draft: 'Brouillon',
    startTemplate: 'Partir d’un modèle',
    discard: 'Recommencer',
    bringBack: 'Reprendre mon brouillon',
    failedAt: (line: number, why: string) =>
      `La ligne ${n(line)} a encore ce qui a fait échouer la config : ${why}.`,
    failedOf: (why: string) => `Ceci a fait échouer la config : ${why}.`,
    keptHere: 'Votre brouillon n’est gardé que dans cet onglet.',
    checks: 'Contrôles',
    checking: 'Contrôle…',
    check: {
      yaml_static: 'YAML',
      collector_structure: 'Structure',
      component_availability: 'Composants',
      collector_version_compatibility: 'Version',
      otelcol_runtime: 'Essai par un collecteur',
    },
    skipped: 'non exécuté',
    what: 'Ce que ça fait',
    nothingChanged: 'Le brouillon est identique à la config active.',
    sameAsReported: 'Le brouillon est identique à ce que ses instances disent exécuter.',
    noMeaning: 'Rien qui change le travail du collecteur : commentaires, ordre des clés ou blancs.',
    draftNotKept:
      'Le texte demandé n’est plus conservé : la demande a pris fin il y a longtemps, ou beaucoup d’autres depuis, et personne ne l’a déployée.',
    beforeNotKept: 'Elle a remplacé ce que rapportaient alors les instances, et cela n’est pas conservé.',
    firstConfig:
      'C’est la première config de ce workload, et aucune instance ne dit ce qu’elle exécute : il n’y a rien à comparer.',
    risk: { none: 'aucun risque vu', low: 'risque faible', medium: 'risque moyen', high: 'risque élevé' },
    fillIn: 'À remplir',
    fillInLead:
      'Le modèle vous laisse ces valeurs. Écrivez la valeur même, ou ${env:NOM} pour une variable de l’environnement du collecteur ; c’est là que vont les secrets.',
    fillInGo: 'Remplir',
    fillInNothing: 'Écrivez au moins une valeur.',
    riskUnknown: 'risque inconnu',
    notCompared: 'non comparé : on ne sait pas ce qui tourne',
    notComparedAway: 'non comparé : rien n’est connecté',
    checkUnknown: 'inconnu : rien n’est connecté',
    againstReported: 'La comparaison est faite avec ce que les instances disent exécuter.',
    takesOver:
      'La poussée le reprend : ce texte le remplace en entier, et il n’y a pas de config antérieure vers laquelle revenir.',
    notOurs: {
      never: 'Rien n’a encore été poussé ici.',
      failed: (hash: string) => `${hash} a été poussée et a échoué, sans retour possible.`,
      none: 'Aucune config poussée ici n’est active.',
    },
    startsBroken: (hash: string, failed: number, total: number) =>
      total > 0
        ? `Le brouillon part de ${hash}, qui a échoué sur ${n(failed)} ${plural(failed, 'instance', 'instances')} sur ${n(total)}. Aucune instance ne doit l’exécuter.`
        : `Le brouillon part de ${hash}, qui a échoué. Aucune instance ne doit l’exécuter.`,
    brokenUnknown: 'Ce que les instances exécutent maintenant n’est pas connu.',
    policy: 'Règles',
    policyPass: 'Aucune règle ne s’y oppose.',
    policyBlocks: (rules: readonly string[]) => `Une règle bloque la poussée : ${rules.join(' ; ')}.`,
    reach: 'Cela atteindra',
    instancesWord: (count: number) => plural(count, 'instance', 'instances'),
    excludedWord: 'exclues',
    environmentWord: 'environnement',
    production: 'production',
    reachesProduction: 'C’est la production : la poussée le fait écrire.',
    reachStages: (sizes: string) => `Par étapes, sauf si qui pousse demande toutes à la fois : ${sizes}`,
    reachAtOnce: 'Toutes à la fois, sauf si qui pousse demande des étapes.',
    reachNames: 'Quelles instances',
    reachMore: (count: number) => `et ${n(count)} de plus`,
    excluded: {
      read_only: 'ne prend pas de config',
      not_a_collector: 'pas un collecteur',
      component_missing: 'il lui manque un composant',
      missing_component: 'il lui manque un composant',
      non_collector: 'pas un collecteur',
      workload_offline: 'non connecté',
      validation_failed: 'le brouillon n’est pas valide',
      empty_config: 'le brouillon est vide',
      all_targets_excluded: 'personne ne la recevrait',
      config_policy_blocked: 'une règle la bloque',
    },
    signals: 'Signaux touchés',
    exporters: 'Exporteurs touchés',
    services: 'Services concernés',
    complains: (line: number) => `La ligne ${line} est en défaut dans ce qui tourne :`,
    complainsChanged: 'En défaut dans ce qui tourne ; ce brouillon le change :',
    comment: 'Commentaire pour le relecteur',
    commentHint: 'Sa première ligne est le nom de la demande partout.',
    group: 'Groupe cible',
    groupHint:
      'Facultatif : un nom quelconque, comme edge. Une nouvelle demande remplace celle qui attend pour le même groupe ; celles pour d’autres attendent à côté.',
    environment: 'Environnement cible',
    prodConfirm: 'Je sais que cela atteint la production.',
    request: 'Demander l’approbation',
    requested: 'Demandé. En attente d’approbation.',
    mustBeValid: 'Le brouillon a des erreurs ; les contrôles disent lesquelles.',
    mustChange: 'Le brouillon est vide.',
    mustConfirm: 'Confirmez que cela atteint la production.',
    review: 'Examen',
    requestedBy: (who: string) => `demandé par ${who}`,
    state: {
      pending: 'en attente d’approbation',
      approved: 'approuvé, attend la poussée',
      pushed: 'poussé',
      rejected: 'rejeté',
      withdrawn: 'retiré',
      retired: 'dépassé',
    },
    pushedApplied: 'poussé et appliqué',
    story: 'Ce qui s’est passé',
    step: {
      requested: 'Demandé',
      commented: 'Commenté',
      approved: 'Approuvé',
      rejected: 'Rejeté',
      withdrawn: 'Retiré',
      retired: 'Dépassé',
      pushed: 'Poussé',
      break_glass_pushed: 'Poussé par bris de glace',
    },
    askChanges: 'Demander des changements',
    changesNeedComment: 'Écrivez un commentaire : que faut-il changer d’abord ?',
    commented: 'C’est dit. La demande attend toujours.',
    commentedApproved: 'C’est dit. Elle reste approuvée, et qui la pousse le verra.',
    reject: 'Rejeter',
    rejectLead:
      'C’en est fini : personne ne pourra plus l’approuver ni la pousser. Un nouveau brouillon peut être demandé.',
    rejectNeedsComment: 'Dites pourquoi elle est rejetée.',
    rejected: 'Rejetée.',
    withdraw: 'Retirer',
    withdrawLead:
      'Elle est reprise : personne ne pourra plus l’approuver ni la pousser. Un nouveau brouillon peut être demandé.',
    withdrawn: 'Retirée.',
    endComment: 'Pourquoi',
    over: {
      rejected: 'Cette demande a été rejetée. Elle ne peut pas être poussée.',
      withdrawn: 'Cette demande a été retirée. Elle ne peut pas être poussée.',
      retired: 'Quelque chose de plus récent l’a remplacée. Elle ne peut pas être poussée.',
    },
    retiredBy: {
      request: () => 'Une demande plus récente l’a remplacée.',
      campaign: (name: string) => `La campagne « ${name} » a changé le workload après elle.`,
      campaign_roll_back: (name: string) =>
        `Le retour en arrière de la campagne « ${name} » a changé le workload après elle.`,
      auto_apply: (name: string, version: number) =>
        `La version ${version} de « ${name} » est venue d’elle-même après elle.`,
      rollback: () => 'Le workload est revenu en arrière après elle.',
    },
    seeWhat: 'Voir ce qui l’a remplacée',
    nothingChanges: 'Le brouillon est déjà ce qui est actif.',
    moved: (hash: string, who: string) =>
      `La config active a changé depuis le début de ce brouillon : c’est ${hash} maintenant${who === '' ? '' : `, poussée par ${who}`}.`,
    movedAway: 'Ce qui était actif au début de ce brouillon ne tourne plus.',
    movedMore:
      'La comparaison est encore faite avec la précédente. Demandé tel quel, le brouillon peut annuler ce que quelqu’un d’autre a changé.',
    takeNew: 'Comparer avec ce qui est actif maintenant',
    mustCompare: 'Comparez-le d’abord avec ce qui est actif maintenant.',
    baseMoved:
      'La config active a changé depuis cette demande. La comparaison ci-dessous est faite avec ce qui est actif maintenant.',
    self: 'approuvé par son auteur',
    endsAt: (day: string) => `Elle prend fin d’elle-même le ${day} si personne n’en dit rien d’ici là.`,
    byAnother: 'Celle de qui l’a demandé ne compte pas.',
    approvalsShort:
      'Elle était approuvée et ne l’est plus : une approbation est trop ancienne, ou son auteur n’a plus le droit.',
    soleApprover: 'approuvé quand personne d’autre ne le pouvait',
    overtakenApprovals: (who: string) =>
      `Autre chose a été envoyé au workload après l’approbation de ${who} : elle comptera de nouveau une fois redonnée.`,
    approve: 'Approuver',
    approveComment: 'Votre commentaire',
    approveNeedsComment: 'Écrivez un commentaire : qu’avez-vous vérifié ?',
    approved: 'Approuvé.',
    approvedByAll: (names: string) => `Approuvé par ${names}.`,
    push: 'Pousser',
    pushReach: (name: string, environment: string, count: number, stages: readonly number[] | null) =>
      `Vers ${name}${environment && `, ${environment}`} : ${formatNumber(count)} ${plural(count, 'instance', 'instances')}${stages ? ` en ${formatNumber(stages.length)} étapes (${stages.map((size) => formatNumber(size)).join(', ')})` : ', d’un coup'}.`,
    pushNow: 'Pousser maintenant',
    pushComment: (isNeeded: boolean) => `Commentaire pour le registre${isNeeded ? '' : ' (facultatif)'}`,
    pushNeedsComment: 'Une poussée en production demande un commentaire.',
    pushNeedsApproval: 'Elle doit d’abord être approuvée.',
    pushTyped: (name: string) => `Ceci atteint la production. Saisissez ${name} pour confirmer.`,
    pushed: 'Poussé.',
    breakGlass: 'Bris de glace',
    breakGlassLead:
      'Pousser sans approbation. À réserver aux cas où attendre ferait plus de mal : c’est enregistré à votre nom avec votre raison, et les règles valent toujours.',
    breakFreezeLead:
      'Pousser bien que le workload soit gelé. À réserver aux cas où attendre ferait plus de mal : c’est enregistré à votre nom avec votre raison, et les règles valent toujours.',
    breakGlassReason: 'Pourquoi cela ne peut attendre',
    breakGlassGo: 'Pousser sans approbation',
    breakFreezeGo: 'Pousser malgré le gel',
    breakGlassNeeds: 'Dites pourquoi cela ne peut attendre.',
    wasBreakGlass: 'poussé par bris de glace',
    notFound: 'Cette demande n’attend plus : une plus récente l’a remplacée, ou son workload a disparu.',
    editAgain: 'Reprendre en nouveau brouillon',
    stages: 'Déployer par étapes',
    stagesSuggested: 'Conseillé : risque élevé en production. Sans cela, toutes la reçoivent à la fois.',
    stagesLeft: 'Risque élevé en production, à toutes à la fois : rien n’arrête avant que toutes l’aient.',
    stageShares: 'Parts des instances, en pour cent',
    stageHint: 'Par exemple 10, 50. Le reste suit en dernière étape.',
    stageFault: 'Écrivez des parts entre 0 et 100, comme 10, 50.',
    stageDwellFault: 'Écrivez des secondes entières, une semaine au plus.',
    stagePreview: (sizes: readonly number[], total: number) =>
      `${[...new Set(sizes)].map((size) => n(size)).join(', puis ')} ${plural(total, 'instance', 'instances')} sur ${n(total)}.`,
    stageDwell: 'Attente après chaque étape, en secondes',
    stageGates: 'S’arrêter quand',
    gates: {
      no_failure: 'une instance échoue',
      health: 'la santé se dégrade',
      drift: 'des instances s’écartent',
    },
    seePush: 'Voir la poussée',
    summary: {
      addsComponent: (name: string) => `ajoute ${componentFr(name)}`,
      addsDestination: (name: string, to: string) => `ajoute ${componentFr(name)}, qui envoie à ${to}`,
      addsSampler: (name: string, percent: number, signals: string) =>
        `ajoute ${componentFr(name)}, qui garde ${n(percent)}\u00a0% de ${signals}`,
      removesComponent: (name: string) => `retire ${componentFr(name)}`,
      renames: (name: string, to: string) => `renomme ${componentFr(name)} en ${to}`,
      changesField: (path: string, before: string | null, after: string | null) =>
        before === null
          ? `règle ${path}${after === '' ? '' : ` sur ${after}`}`
          : after === null
            ? `retire ${path}${before === '' ? '' : ` (valait ${before})`}`
            : before === after || before === '' || after === ''
              ? `modifie ${path}`
              : `modifie ${path} : ${before} → ${after}`,
      addsPipeline: (name: string) => `ajoute le pipeline ${name}`,
      removesPipeline: (name: string) => `retire le pipeline ${name}`,
      routes: (signal: string, name: string) => `envoie ${signalFr(signal)} vers ${name}`,
      unroutes: (signal: string, name: string) => `n’envoie plus ${signalFr(signal)} vers ${name}`,
      reorders: (name: string) => `change l’ordre dans ${name}`,
      keeps: (signal: string) => `ne change rien pour ${signalFr(signal)}`,
      losesSignal: (signal: string) =>
        `n’envoie plus nulle part ${signalFr(signal)} : aucun pipeline n’y reste`,
    },
    advice: {
      'community.yaml.parse': 'Corrigez le YAML.',
      'community.production.insecure_tls': 'Retirez « insecure: true » et passez par TLS.',
      'community.production.tls_verification':
        'Retirez « insecure_skip_verify: true » et nommez l’autorité dans « ca_file ».',
      'community.production.plain_http': 'Écrivez « https:// ».',
      'community.production.expansion': 'Écrivez la valeur même ; ailleurs, les expansions sont permises.',
      'community.processors.memory_limiter.required':
        'Définissez un processeur memory_limiter et mettez-le en tête de chaque pipeline.',
      'community.pipelines.batch.required': 'Ajoutez un processeur batch au pipeline.',
      'community.exporters.otlp_endpoint.allowlist':
        'Envoyez vers un hôte permis, ou faites ajouter celui-ci à la liste.',
      'community.resource.attributes.required': 'Posez-les dans un processeur resource.',
      'community.sampling.percentage.safe_range': 'Choisissez un taux dans les bornes.',
      'community.exporters.critical_removal':
        'Gardez-le, sous ce nom, dans un pipeline : MUSTER_POLICY_CRITICAL_EXPORTERS du service nomme ceux qui doivent rester. Si cette liste est vide, en production tous doivent rester ; dès qu’elle en nomme, les autres peuvent partir.',
    },
    rule: {
      'community.yaml.parse': 'Le YAML doit être lisible.',
      'community.production.insecure_tls': 'Pas de TLS désactivé en production.',
      'community.production.tls_verification': 'Pas de certificat non vérifié en production.',
      'community.production.plain_http': 'Pas de HTTP en clair vers un hôte permis en production.',
      'community.production.expansion': 'Pas d’expansion là où une règle doit juger.',
      'community.processors.memory_limiter.required': 'Un processeur memory_limiter est exigé.',
      'community.pipelines.batch.required': 'Un processeur batch est exigé dans chaque pipeline.',
      'community.exporters.otlp_endpoint.allowlist': 'L’adresse OTLP n’est pas dans la liste permise.',
      'community.resource.attributes.required': 'Il manque des attributs de ressource exigés.',
      'community.sampling.percentage.safe_range': 'Le taux d’échantillonnage sort des bornes permises.',
      'community.exporters.critical_removal':
        'Plus aucun pipeline n’envoie vers cet exporteur, qui compte en production.',
      takes_over:
        'Elle remplace ce que les instances disent exécuter, sans config antérieure vers laquelle revenir.',
      failed_here: 'Cette config a échoué ici à sa dernière poussée.',
      mends_unreachable: 'Aucune instance n’atteint la destination qu’elle remplace.',
      exporter_removed: 'Un exporteur est retiré.',
      batch_processor_removed_from_pipeline: 'Le processeur batch est retiré.',
      memory_limiter_removed_from_pipeline: 'Le processeur memory_limiter est retiré.',
      sampling_guard_removed: 'L’échantillonnage est retiré.',
      auth_header_modified: 'Une authentification ou un en-tête change.',
      transport_security_weakened: 'La sécurité du transport est affaiblie.',
      sampling_rate_strongly_changed: 'Le taux d’échantillonnage change fortement.',
      sampling_policy_modified: 'L’échantillonnage change.',
      pipeline_removed: 'Un pipeline est retiré.',
      pipeline_broken: 'Un pipeline n’a plus d’entrée ou de sortie.',
      pipeline_exporter_set_changed: 'Les exporteurs d’un pipeline changent.',
      otlp_endpoint_changed: 'Une adresse OTLP change.',
      receiver_endpoint_exposure_changed: 'L’exposition d’un récepteur change.',
      processor_order_changed: 'L’ordre des processeurs change.',
      destination_added: 'Une nouvelle destination reçoit des données.',
      destination_changed: 'Une destination change.',
      redaction_removed: 'Un masquage de données est retiré.',
      redaction_weakened: 'Un masquage de données est affaibli.',
      memory_limit_lowered: 'La limite de mémoire est abaissée.',
      memory_limit_raised: 'La limite de mémoire est relevée.',
      delivery_guard_weakened: 'La file d’attente ou la reprise est coupée.',
      dropping_processor_added: 'Des données qui étaient gardées seront jetées.',
      stored_state_left_behind: 'Ce que le composant a enregistré reste sous son ancien nom.',
    },
  },
})

/** Reasons for a risk that a line has room for. */
const REASONS_SHOWN = 2

/** Why a change is as risky as it is, in a few words; empty where it is not. */
export function sayRisk({
  severity,
  reasons,
  reason_codes: codes = [],
}: Pick<RiskScore, 'severity' | 'reasons' | 'reason_codes'>): string {
  if (severity === 'none' || severity === 'low') return ''
  const said = reasons.map((reason, at) => translated(say(changeTexts).rule, codes[at] ?? '', reason))
  const more = said.length > REASONS_SHOWN ? ' …' : ''
  return said
    .slice(0, REASONS_SHOWN)
    .map((one) => one.replace(/\.$/, ''))
    .join(' · ')
    .concat(more)
}

/** Which rules of the policy keep a config from being pushed, as a sentence; null where none does. */
export function sayBlocks({ findings }: PolicyEvaluation): string | null {
  const words = say(changeTexts)
  const names = findings
    .filter(({ decision }) => decision === 'block')
    .map((one) => translated(words.rule, one.rule_code, one.policy_name).replace(/\.$/, ''))
  return names.length === 0 ? null : words.policyBlocks([...new Set(names)])
}

/** Why a workload runs no config that was pushed to it. */
export function sayNotOurs(workload: WorkloadRecord): string {
  const words = say(changeTexts).notOurs
  const failed = deadEndOf(workload)
  if (failed !== null) return words.failed(shortHash(failed))
  return workload.current_config_push === undefined ? words.never : words.none
}
