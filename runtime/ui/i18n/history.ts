import { isOpen } from '../../../lib/model/workload-states.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { otherwiseRunning } from '../logic/workloads.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber, quoted, shortHash } from './format.ts'
import { describeRunning } from './workload.ts'

const n = formatNumber

/** Texts of a workload's configuration, history and activity. */
export const historyTexts = defineTexts({
  en: {
    wanted: 'What it should run',
    running: 'What it runs',
    runningHint: 'As one instance reports it, in normal form.',
    noWanted: 'No config is assigned.',
    deadEnd: (hash: string) =>
      `No config that works is assigned: ${hash} failed, and there was nothing to go back to.`,
    seeFailed: 'See it, and why it failed',
    noRunning: 'No instance reports its config.',
    agree: 'All instances run what is assigned.',
    disagree: (count: number) =>
      `${n(count)} ${plural(count, 'instance does', 'instances do')} not run what is assigned.`,
    differs: {
      title: 'Where it differs',
      place: 'Place',
      should: 'Should',
      does: 'Does',
      absent: '(not there)',
      beside: 'What it should run beside what it runs, in one order.',
    },
    inRollout: 'They are meant to: a rollout in stages has come to them, and not yet to the others.',
    seeRollout: 'See the rollout',
    given: (hash: string) => `It is to run ${hash}.`,
    compare: 'Compare',
    compareHint: 'Choose two to compare.',
    compareTitle: 'Compare two configs',
    choose: (hash: string) => `Compare ${hash}`,
    same: 'The two are the same.',
    nothing: 'Nothing was pushed yet.',
    label: 'Label',
    editLabel: 'Label',
    labelHint: 'It belongs to the config: every push of it shows it. Empty takes it away.',
    pin: 'Pin as known good',
    pinShort: 'Pin',
    unpin: 'Unpin',
    pinned: 'known good',
    pinOnlyApplied: 'Only a config that was applied here can be pinned.',
    pinReplaces: (hash: string) => `Config ${hash} is pinned now, and will not be any more.`,
    pinMoved: 'Somebody else has pinned another config meanwhile.',
    pinReason: 'Why (optional)',
    pinReplace: 'Pin this instead',
    pinnedNow: 'Pinned.',
    current: 'current',
    previous: 'previous',
    stages: 'in stages',
    rollBack: 'Roll back to this',
    rollBackShort: 'Roll back',
    rollBackOnlyApplied: 'Only a config that was applied here can be rolled back to.',
    rollBackHere: 'This is what it should run already.',
    rollBackTitle: (name: string, hash: string) => `Roll ${name} back to ${hash}`,
    rollBackAsk: 'It supersedes a push that is under way.',
    rollBackHalted: (hash: string, running: string) =>
      `${running === '' ? '' : `${hash}: ${running}. `}The halted rollout ends with this.`,
    rollBackFrom: 'From',
    rollBackTo: 'Back to',
    rollBackComment: 'Why, for the audit log (optional)',
    pushedBy: (who: string) => `pushed by ${who}`,
    rollBackGo: 'Roll back now',
    rollBackChoose: 'Choose the config to go back to.',
    rolledBack: 'The rollback is under way.',
    autoRollback: 'automatic rollback',
    unhealthyUnder: (count: number, of: number) => `${n(count)} of ${n(of)} unhealthy under it`,
    answers: (hash: string) => `answers the failure of ${hash}`,
    use: 'Start a change from this',
    activity: 'Activity',
    window: 'Period',
    windows: { '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '7d': '7 days' },
    churn: (rate: string) => `${rate} disconnects an hour`,
    stats: (up: number, down: number, version: number) =>
      `${n(up)} ${plural(up, 'connect', 'connects')} · ${n(down)} ${plural(down, 'disconnect', 'disconnects')} · ${n(version)} ${plural(version, 'version change', 'version changes')}`,
    noEvents: 'Nothing happened yet.',
    event: {
      connected: (who: string, version: string) => `${who} connected${version ? ` with ${version}` : ''}`,
      disconnected: (who: string) => `${who} disconnected`,
      version_changed: (who: string, from: string, to: string) => `${who} went from ${from} to ${to}`,
      config_altered: (who: string) =>
        `${who} was changed on its host: it runs another config than it applied`,
      config_restored: (who: string) => `${who} runs again what it was asked to`,
      push: (hash: string, who: string) => `Config ${hash} pushed by ${who}`,
      alertFired: (rule: string, what: string) => `Alert: ${rule} – ${what}`,
      alertResolved: (rule: string) => `Alert resolved: ${rule}`,
      audit: (action: string, who: string, said: string) =>
        `${action} by ${who}${said && `: ${quoted(said)}`}`,
    },
    chart: 'Connects and disconnects over time',
    connects: 'connects',
    disconnects: 'disconnects',
    alerts: 'alerts',
    noAlerts: 'No alert of its own was ever raised for this workload.',
    toldByCampaign:
      'What a campaign brought failed here: the alert of the campaign tells of it, for all of its workloads.',
  },
  fr: {
    wanted: 'Ce qu’il doit exécuter',
    running: 'Ce qu’il exécute',
    runningHint: 'Tel qu’une instance le signale, sous forme normale.',
    noWanted: 'Aucune config n’est assignée.',
    deadEnd: (hash: string) =>
      `Aucune config qui marche n’est assignée : ${hash} a échoué, et il n’y avait rien où revenir.`,
    seeFailed: 'La voir, et pourquoi elle a échoué',
    noRunning: 'Aucune instance ne signale sa config.',
    agree: 'Toutes les instances exécutent ce qui est assigné.',
    disagree: (count: number) =>
      `${n(count)} ${plural(count, 'instance n’exécute', 'instances n’exécutent')} pas ce qui est assigné.`,
    differs: {
      title: 'Où ce n’est pas pareil',
      place: 'Endroit',
      should: 'Devrait',
      does: 'Exécute',
      absent: '(absent)',
      beside: 'Ce qu’elle devrait exécuter à côté de ce qu’elle exécute, dans le même ordre.',
    },
    inRollout: 'C’est voulu : un déploiement par étapes les a atteintes, et pas encore les autres.',
    seeRollout: 'Voir le déploiement',
    given: (hash: string) => `Elle doit exécuter ${hash}.`,
    compare: 'Comparer',
    compareHint: 'Choisissez-en deux à comparer.',
    compareTitle: 'Comparer deux configs',
    choose: (hash: string) => `Comparer ${hash}`,
    same: 'Les deux sont identiques.',
    nothing: 'Rien n’a encore été poussé.',
    label: 'Libellé',
    editLabel: 'Libellé',
    labelHint: 'Il appartient à la config : chaque poussée l’affiche. Vide le retire.',
    pin: 'Épingler comme bonne',
    pinShort: 'Épingler',
    unpin: 'Désépingler',
    pinned: 'connue bonne',
    pinOnlyApplied: 'On n’épingle qu’une config qui a été appliquée ici.',
    pinReplaces: (hash: string) => `La config ${hash} est épinglée ; elle ne le sera plus.`,
    pinMoved: 'Quelqu’un d’autre a épinglé une autre config entre-temps.',
    pinReason: 'Pourquoi (facultatif)',
    pinReplace: 'Épingler celle-ci à la place',
    pinnedNow: 'Épinglée.',
    current: 'actuelle',
    previous: 'précédente',
    stages: 'par étapes',
    rollBack: 'Revenir à celle-ci',
    rollBackShort: 'Revenir',
    rollBackOnlyApplied: 'On ne revient qu’à une config qui a été appliquée ici.',
    rollBackHere: 'C’est déjà ce qu’il doit exécuter.',
    rollBackTitle: (name: string, hash: string) => `Ramener ${name} à ${hash}`,
    rollBackAsk: 'Une poussée en cours est remplacée.',
    rollBackHalted: (hash: string, running: string) =>
      `${running === '' ? '' : `${hash} : ${running}. `}Le déploiement arrêté se termine ainsi.`,
    rollBackFrom: 'De',
    rollBackTo: 'Retour à',
    rollBackComment: 'Pourquoi, pour le journal d’audit (facultatif)',
    pushedBy: (who: string) => `poussée par ${who}`,
    rollBackGo: 'Revenir maintenant',
    rollBackChoose: 'Choisissez la config à laquelle revenir.',
    rolledBack: 'Le retour est en cours.',
    autoRollback: 'retour automatique',
    unhealthyUnder: (count: number, of: number) => `${n(count)} sur ${n(of)} en mauvaise santé avec elle`,
    answers: (hash: string) => `répond à l’échec de ${hash}`,
    use: 'Partir de celle-ci',
    activity: 'Activité',
    window: 'Période',
    windows: { '1h': '1 heure', '6h': '6 heures', '24h': '24 heures', '7d': '7 jours' },
    churn: (rate: string) => `${rate} déconnexions par heure`,
    stats: (up: number, down: number, version: number) =>
      `${n(up)} ${plural(up, 'connexion', 'connexions')} · ${n(down)} ${plural(down, 'déconnexion', 'déconnexions')} · ${n(version)} ${plural(version, 'changement', 'changements')} de version`,
    noEvents: 'Rien ne s’est encore passé.',
    event: {
      connected: (who: string, version: string) => `${who} connectée${version ? ` en ${version}` : ''}`,
      disconnected: (who: string) => `${who} déconnectée`,
      version_changed: (who: string, from: string, to: string) => `${who} passée de ${from} à ${to}`,
      config_altered: (who: string) =>
        `${who} modifiée sur place : elle exécute une autre config que celle qu’elle a appliquée`,
      config_restored: (who: string) => `${who} exécute de nouveau ce qui lui était demandé`,
      push: (hash: string, who: string) => `Config ${hash} poussée par ${who}`,
      alertFired: (rule: string, what: string) => `Alerte : ${rule} – ${what}`,
      alertResolved: (rule: string) => `Alerte résolue : ${rule}`,
      audit: (action: string, who: string, said: string) =>
        `${action} par ${who}${said && ` : ${quoted(said)}`}`,
    },
    chart: 'Connexions et déconnexions dans le temps',
    connects: 'connexions',
    disconnects: 'déconnexions',
    alerts: 'alertes',
    noAlerts: 'Aucune alerte propre à ce workload n’a jamais été levée.',
    toldByCampaign:
      'Ce qu’une campagne a apporté a échoué ici : l’alerte de la campagne le dit, pour tous ses workloads.',
  },
})

/** What a rollback ends that is open still: a push under way, or a halted rollout, with who runs what; '' for nothing. */
export function describeEndedBy(workload: WorkloadRecord): string {
  const words = say(historyTexts)
  const { current_config_push: push, active_config_hash: hash } = workload
  if (!push || !isOpen(push)) return ''
  if (push.rollout_status !== 'halted') return words.rollBackAsk
  const running = otherwiseRunning(workload)
  return words.rollBackHalted(shortHash(hash), running ? describeRunning(workload, running) : '')
}
