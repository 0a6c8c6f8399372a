# Rscript grouped.R MODEL.stan DATA.json...: for each data set a line of CPU seconds and a line of
# draws of the system's accuracy.
suppressPackageStartupMessages({library(rstan); library(jsonlite)})
arguments <- commandArgs(trailingOnly = TRUE)
# Debian's package of Boost for R points to headers that are elsewhere.
boost <- if (nzchar(system.file("include", package = "BH"))) NULL else "/usr/include"
model <- stan_model(arguments[1], save_dso = FALSE, boost_lib = boost)
for (file in arguments[-1]) {
  data <- fromJSON(file)
  before <- sum(proc.time()[c("user.self", "sys.self")])
  fit <- sampling(model, data = data[c("P", "J", "K", "y", "count", "alpha", "beta")],
                  chains = 1, warmup = data$warmup, iter = data$warmup + data$draws,
                  init = list(list(pi = data$pi, theta = data$theta)),
                  pars = "accuracy", seed = 1, refresh = 0)
  after <- sum(proc.time()[c("user.self", "sys.self")])
  cat("CPU", after - before, "\n")
  cat("DRAWS", extract(fit, "accuracy", permuted = FALSE)[, 1, 1], "\n")
}
