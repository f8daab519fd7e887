-- breaks older binaries: no
--
-- Whether a name is an e-mail that the provider does not call unverified, or that a removed local user had. Of the names of
-- somebody of a provider it is known from the next sign-in on.

alter table provider_names add column is_vouched boolean not null default false;

update provider_names n set is_vouched = true
where not exists (select from external_ids e where e.user_id = n.user_id);
