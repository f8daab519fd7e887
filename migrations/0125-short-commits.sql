-- breaks older binaries: no
--
-- A commit and its author as they were sent were kept without a bound, and each start read them all: cut to what is taken now.

update managed_configs set commit_sha = left(commit_sha, 128), commit_author = left(commit_author, 512),
    ran_commit_sha = left(ran_commit_sha, 128)
  where length(commit_sha) > 128 or length(commit_author) > 512 or length(ran_commit_sha) > 128;
update git_wishes set commit_sha = left(commit_sha, 128), commit_author = left(commit_author, 512),
    ran_commit_sha = left(ran_commit_sha, 128)
  where length(commit_sha) > 128 or length(commit_author) > 512 or length(ran_commit_sha) > 128;
update managed_fleet_configs set commit_sha = left(commit_sha, 128), commit_author = left(commit_author, 512),
    ran_commit_sha = left(ran_commit_sha, 128)
  where length(commit_sha) > 128 or length(commit_author) > 512 or length(ran_commit_sha) > 128;
