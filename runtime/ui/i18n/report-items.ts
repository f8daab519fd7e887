import type { AlertRule } from '../../../lib/wire/alerts.ts'
import type { EvidenceItem, EvidenceSection, FactValue } from '../../../lib/wire/reports.ts'
import { alertTexts } from './alerts.ts'
import { commonTexts } from './common.ts'
import { defineTexts, language, say } from './define.ts'
import { formatExact } from './format.ts'
import { describeCampaignFact, describeCampaignItem } from './report-campaigns.ts'
import { reportTexts } from './reports.ts'

/**
 * The pack is in English, whoever reads it: its bytes are hashed. The preview says the same in the reader's
 * language where ids and facts allow it, and shows the pack's own words where they do not.
 */
const itemTexts = defineTexts({
  en: {
    /** English labels that are missing here are the keys, with blanks for underscores. */
    fact: {
      altered_instance_count: 'changed on their hosts',
      altered_since: 'changed since',
      applied_at: 'applied',
      applied_count: 'applied',
      drift_status: 'drift',
      effective_config_hash: 'runs',
      expected_config_hash: 'should run',
      failed_count: 'failed',
      is_outdated: 'too old',
      minimum_version: 'recommended',
      pushed_by: 'pushed by',
      resolved_at: 'resolved',
      target_config_id: 'goes back to',
      target_count: 'instances asked',
      target_env: 'environment',
      verified_records: 'records verified',
      workload_id: 'workload',
    } as Record<string, string>,
    value: {
      altered: 'changed on its host',
      'auto-rollback': 'automatic rollback',
      in_part: 'applied in part',
      in_sync: 'in sync',
      known_good: 'known good',
    } as Record<string, string>,
    yes: 'yes',
    no: 'no',
    event: {
      config_altered: 'config changed on its host',
      config_restored: 'config as asked again',
      version_changed: 'version changed',
    } as Record<string, string>,
    config: (name: string, hash: string, state: string) => `${name}: config ${hash} ${state}`,
    inEnglish: (what: string, said: string) => `${what}: “${said}”`,
    breakGlass: 'by break-glass',
    ready: (name: string) => `${name}: ready to roll back`,
    notReady: (name: string) => `${name}: no rollback target`,
    noVersion: (name: string) => `${name}: version not reported`,
    intact: (seq: string) => `Audit chain intact up to record ${seq}`,
    broken: (seq: string) => `Audit chain broken at record ${seq}`,
    truncated: (section: string) => `Section ${section} is not complete: only its newest entries fit.`,
  },
  fr: {
    fact: {
      accepts_remote_config: 'prend des configs',
      altered_instance_count: 'modifiées sur leurs hôtes',
      altered_since: 'modifiée depuis',
      active_config_hash: 'config active',
      added_components: 'composants ajoutés',
      active_since: 'en vigueur depuis le',
      applied_at: 'appliquée le',
      applied_count: 'appliquées',
      applying_count: 'en application',
      approval_comment: 'commentaire d’approbation',
      approval_id: 'demande',
      approvals: 'approbations',
      approved_at: 'approuvée le',
      approved_by: 'approuvée par',
      archived_at: 'archivé le',
      auto_apply_id: 'application d’elle-même',
      base_config_hash: 'config de départ',
      break_glass: 'bris de glace',
      break_glass_reason: 'raison du bris de glace',
      campaign_id: 'campagne',
      catch_up_seconds: 'secondes de rattrapage',
      change: 'changement',
      change_hash: 'empreinte du changement',
      close_comment: 'commentaire de fin',
      closed_by: 'terminée par',
      clusters: 'clusters',
      config_hash: 'config',
      config_id: 'config',
      content_available: 'contenu conservé',
      converged_50_ms: 'ms pour 50 %',
      converged_90_ms: 'ms pour 90 %',
      converged_99_ms: 'ms pour 99 %',
      converged_100_ms: 'ms pour 100 %',
      current_config_hash: 'config actuelle',
      display_name: 'nom',
      draft_config_hash: 'brouillon',
      drift_status: 'écart',
      effective_config_hash: 'config exécutée',
      end_cause: 'cause de la fin',
      ended_at: 'fin',
      environments: 'environnements',
      error_cause: 'cause',
      error_message: 'message d’erreur',
      error_title: 'erreur',
      expected_config_hash: 'config attendue',
      failed_at: 'échouée le',
      failed_config_hash: 'config échouée',
      failed_count: 'échouées',
      first_bad_seq: 'premier enregistrement altéré',
      fleet_config_id: 'config de parc',
      gone_count: 'disparues',
      halt: 'arrêt',
      halt_gate: 'seuil de l’arrêt',
      halt_limit: 'limite',
      halt_title: 'cause de l’arrêt',
      halt_value: 'valeur',
      halt_wave: 'vague de l’arrêt',
      head_hash: 'dernière empreinte',
      head_seq: 'dernier enregistrement',
      instance_count: 'instances',
      instance_uid: 'instance',
      is_newcomer: 'nouveau',
      is_outdated: 'dépassée',
      is_production: 'production',
      joined_count: 'arrivées ensuite',
      kind: 'genre',
      label: 'libellé',
      labels: 'étiquettes',
      left_out: 'laissés de côté',
      limits: 'limites',
      max_in_flight: 'instances à la fois',
      minimum_version: 'version minimale',
      name: 'nom',
      no_status_count: 'sans réponse',
      no_way_back_count: 'sans retour possible',
      outcome: 'issue',
      outcomes: 'issues',
      phase: 'phase',
      plan_hash: 'empreinte du plan',
      pod_name: 'pod',
      prev_version: 'version précédente',
      priority: 'priorité',
      production_count: 'en production',
      push_comment: 'commentaire de poussée',
      push_id: 'poussée',
      pushed_at: 'poussée le',
      pushed_by: 'poussée par',
      quarantined_config_hashes: 'configs en quarantaine',
      raised_limits: 'limites relevées',
      reaches_production: 'atteint la production',
      ready: 'possible',
      reason: 'raison',
      refused: 'refusés',
      remote_config_status: 'état de la config',
      removed_components: 'composants retirés',
      removed_label_count: 'étiquettes omises',
      request_comment: 'commentaire de demande',
      requested_at: 'demandée le',
      requested_by: 'demandée par',
      resolved: 'résolue',
      result_config_hash: 'config d’arrivée',
      retry_quarantined: 'réessaie ce qui a échoué',
      resolved_at: 'résolue le',
      rollback_push_id: 'poussée de retour',
      rollback_of_push_id: 'répond à la poussée',
      rule: 'règle',
      scope_records_by_action: 'enregistrements par action',
      selector: 'sélecteur',
      self_approved: 'approuvée par son auteur',
      started_at: 'début',
      started_by: 'lancée par',
      status: 'état',
      submitted_at: 'lancée le',
      target_config_hash: 'config de retour',
      target_config_id: 'config de retour',
      target_count: 'instances visées',
      target_env: 'environnement cible',
      target_group: 'groupe cible',
      target_kind: 'origine du retour',
      type: 'type',
      verdict: 'plan',
      verdicts: 'verdicts du plan',
      verified_records: 'enregistrements vérifiés',
      version: 'version',
      version_number: 'version',
      wave: 'vague',
      waves: 'vagues',
      windows: 'créneaux',
      waiting_count: 'en attente',
      wave_count: 'workloads de la vague',
      workload_count: 'workloads',
      started_count: 'en cours',
      workload_id: 'workload',
      workload_name: 'nom du workload',
    },
    value: {
      applied: 'appliquée',
      applying: 'en application',
      approved: 'approuvée',
      broken: 'rompue',
      collector: 'collecteur',
      connected: 'connecté',
      degraded: 'dégradé',
      disconnected: 'déconnecté',
      known_good: 'connue bonne',
      previous: 'précédente',
      rollback: 'retour',
      'auto-rollback': 'retour automatique',
      push: 'poussée',
      altered: 'modifiée sur place',
      drifted: 'en écart',
      failed: 'échouée',
      in_sync: 'conforme',
      none: 'aucun',
      in_part: 'appliquée en partie',
      pending: 'en attente',
      pushed: 'poussée',
      superseded: 'remplacée',
      aborted: 'abandonnée',
      unknown: 'inconnu',
      verified: 'intacte',
    },
    yes: 'oui',
    no: 'non',
    event: {
      connected: 'connexion',
      disconnected: 'déconnexion',
      version_changed: 'changement de version',
      config_altered: 'config modifiée sur place',
      config_restored: 'config de nouveau conforme',
    },
    config: (name: string, hash: string, state: string) => `${name} : config ${hash} ${state}`,
    inEnglish: (what: string, said: string) => `${what} : « ${said} »`,
    breakGlass: 'par bris de glace',
    ready: (name: string) => `${name} : retour possible`,
    notReady: (name: string) => `${name} : aucun retour possible`,
    noVersion: (name: string) => `${name} : version non signalée`,
    intact: (seq: string) => `Chaîne d’audit intacte jusqu’à l’enregistrement ${seq}`,
    broken: (seq: string) => `Chaîne d’audit rompue à l’enregistrement ${seq}`,
    truncated: (section: string) =>
      `La section « ${section} » n’est pas complète : seules les entrées les plus récentes y tiennent.`,
  },
})

/** The section's name by its id. Ids are part of the pack's version. */
export function describeSection({ id, title }: Pick<EvidenceSection, 'id' | 'title'>): string {
  const names: Record<string, string> = say(reportTexts).section
  return names[id] ?? title
}

/** What a fact is called. */
export const describeFact = (key: string): string => say(itemTexts).fact[key] ?? key.replaceAll('_', ' ')

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

/** A fact's value: states, times, yes and no in the reader's language; everything else as it is. */
export function describeValue(value: FactValue): string {
  const words = say(itemTexts)
  if (value === null) return '–'
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(describeValue).join(', ')
  if (typeof value === 'object') {
    const entries = Object.entries(value)
    return entries.length === 0
      ? '–'
      : entries.map(([key, inner]) => `${key}=${describeValue(inner)}`).join(', ')
  }
  if (typeof value === 'number') return String(value)
  if (TIME.test(value)) return formatExact(value)
  return words.value[value] ?? (value === '' ? '–' : value)
}

const nameOfRule = ({ facts: { rule } }: EvidenceItem): string =>
  say(alertTexts).rules[rule as AlertRule] ?? String(rule ?? '')

/** A fact in its item: some sections have words of their own for what it says. */
export function describeFactOf(sectionId: string, item: EvidenceItem, key: string): string {
  const own = sectionId === 'campaigns' ? describeCampaignFact(key, item) : null
  if (sectionId === 'alerts' && key === 'rule') return nameOfRule(item)
  return own ?? describeValue(item.facts[key] ?? null)
}

/** A summary of the pack, with the words for a state or an event that ends it. */
function inWords(summary: string): string {
  const words = say(itemTexts)
  const at = summary.lastIndexOf(': ')
  const last = at < 0 ? summary : summary.slice(at + 2)
  return `${at < 0 ? '' : summary.slice(0, at + 2)}${words.event[last] ?? words.value[last] ?? last}`
}

/** The words of the pack as the console has them: a workload by its name alone, a hash as short as everywhere. */
const asShown = (text: string): string =>
  text.replace(/^Workload [0-9a-f]+ \((.+?)\)(?=:| )/, '$1').replace(/\b([0-9a-f]{7})[0-9a-f]{5}\b/g, '$1')

/** What an item says in one line. */
export const describeItem = (sectionId: string, item: EvidenceItem): string =>
  asShown(sayItem(sectionId, { ...item, summary: asShown(item.summary) }))

function sayItem(sectionId: string, item: EvidenceItem): string {
  if (sectionId === 'campaigns') return describeCampaignItem(item)
  const words = say(itemTexts)
  if (language.value === 'en')
    return sectionId === 'drift' || sectionId === 'workload_events' ? inWords(item.summary) : item.summary
  const { facts, summary } = item
  const text = (key: string) => String(facts[key] ?? '')
  const state = (key: string) => words.value[text(key)] ?? text(key)
  const at = summary.indexOf(': ')
  const name = at < 0 ? summary : summary.slice(0, at)
  switch (sectionId) {
    case 'config_history':
    case 'current_config':
      return words.config(
        name,
        text('config_id').slice(0, 12),
        text('outcome') === '' ? state('status') : state('outcome'),
      )
    case 'config_plan': {
      const said = words.config(name, text('draft_config_hash').slice(0, 12), state('status'))
      return facts['break_glass'] === true ? `${said} ${words.breakGlass}` : said
    }
    case 'drift':
      return `${name} : ${state('drift_status')}`
    case 'version_intelligence':
      return text('version') === '' ? words.noVersion(name) : `${name} : ${text('version')}`
    case 'alerts':
      // Where only the pack says what happened, its own words stand as such.
      return say(alertTexts).sentence[text('rule')] ?? words.inEnglish(nameOfRule(item), summary)
    case 'workload_events':
      return words.event[summary] ?? summary
    case 'rollback_readiness':
      return facts['ready'] === true ? words.ready(name) : words.notReady(name)
    case 'audit_verification':
      return text('status') === 'verified'
        ? words.intact(text('head_seq'))
        : words.broken(text('first_bad_seq'))
    default:
      return summary
  }
}

/** How serious an item is, in a word; null when it is nothing to mind. */
export function describeSeverity(severity: string | undefined): string | null {
  if (severity !== 'critical' && severity !== 'warning' && severity !== 'failed') return null
  return severity === 'failed' ? say(commonTexts).push.failed : say(alertTexts).severity[severity]
}

/** A warning of the pack; what was cut is said by its section's id. */
export function describeWarning({ code, message }: { code: string; message: string }): string {
  const cut = /^(.+)_truncated$/.exec(code)?.[1]
  return cut === undefined || language.value === 'en'
    ? message
    : say(itemTexts).truncated(describeSection({ id: cut, title: cut }))
}
