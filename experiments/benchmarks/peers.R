# Rscript peers.R PACKAGE FOLDER: compute with an R package from tables in FOLDER, and print its
# version, and a line "quantity,number" for each number, of what `peers_in_r.py` compares.
arguments <- commandArgs(trailingOnly = TRUE)
package <- arguments[1]
read <- function(name) read.csv(file.path(arguments[2], paste0(name, ".csv")), check.names = FALSE)
say <- function(quantity, number) cat(quantity, format(number, digits = 17), sep = ",", "\n")

irrCAC <- function() {
  coders <- read("krippendorff")
  dentists <- read("caries")
  say("conger_kappa", irrCAC::conger.kappa.raw(coders)$est$coeff.val)
  say("gwet_ac1", irrCAC::gwet.ac1.raw(coders)$est$coeff.val)
  say("brennan_prediger_kappa", irrCAC::bp.coeff.raw(coders)$est$coeff.val)
  say("krippendorff_alpha", irrCAC::krippen.alpha.raw(coders)$est$coeff.val)
  fleiss <- irrCAC::fleiss.kappa.raw(dentists)$est
  say("fleiss_kappa", fleiss$coeff.val)
  say("fleiss_kappa_error", fleiss$coeff.se)
  say("gwet_ac1_error", irrCAC::gwet.ac1.raw(dentists)$est$coeff.se)
}

rater <- function() {
  fit <- rater::rater(read("anesthesia"), "dawid_skene", chains = 4, iter = 6000, seed = 1,
                      refresh = 0, verbose = FALSE)
  say("base_rate", rater::point_estimate(fit, "pi")$pi[1])
  say("right", rater::point_estimate(fit, "theta")$theta[1, 1, 1])
}

runjags <- function() {
  tests <- as.data.frame(lapply(read("tuberculosis"), factor))
  file <- tempfile()
  runjags::template_huiwalter(tests, outfile = file, outcome_check = FALSE)
  # Data and starting values stand in the file.
  seeds <- lapply(1:2, function(i) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = i))
  fit <- runjags::run.jags(file, n.chains = 2, inits = seeds, burnin = 2000, sample = 50000,
                           silent.jags = TRUE)
  means <- summary(fit)[, "Mean"]
  for (name in names(means)) say(name, means[[name]])
}

if (!requireNamespace(package, quietly = TRUE)) quit(status = 3)
cat("version,", as.character(packageVersion(package)), "\n", sep = "")
sink(stderr())
compute <- get(package)
numbers <- capture.output(compute())
sink()
writeLines(grep("^[^ ]+,[-0-9.e]+", numbers, value = TRUE))
