// Dawid-Skene with true categories summed out over unique patterns of ratings: R's rater calls
// this layout grouped.
data {
  int<lower=1> P;
  int<lower=2> J;
  int<lower=2> K;
  int<lower=1, upper=K> y[P, J];
  vector<lower=0>[P] count;
  vector<lower=0>[K] alpha;
  vector<lower=0>[K] beta[K];
}
parameters {
  simplex[K] pi;
  simplex[K] theta[J, K];
}
transformed parameters {
  vector[K] log_joint[P];
  {
    vector[K] log_theta[J, K];
    vector[K] log_pi = log(pi);
    for (j in 1:J)
      for (l in 1:K)
        for (k in 1:K) log_theta[j, l][k] = log(theta[j, k][l]);
    for (p in 1:P) {
      log_joint[p] = log_pi;
      for (j in 1:J) log_joint[p] += log_theta[j, y[p, j]];
    }
  }
}
model {
  pi ~ dirichlet(alpha);
  for (j in 1:J)
    for (k in 1:K) theta[j, k] ~ dirichlet(beta[k]);
  for (p in 1:P) target += count[p] * log_sum_exp(log_joint[p]);
}
generated quantities {
  real accuracy = 0;
  for (k in 1:K) accuracy += pi[k] * theta[J, k][k];
}
