-------------------- MODULE turnstile_1 --------------------

\* A turnstile.
\* Check it with TLC: java -cp tla2tools.jar tlc2.TLC turnstile_1
\* The first violation ends the run; with -continue before the name TLC visits every state.

EXTENDS Integers

VARIABLES
    init,                \* 0..2
    coins,               \* 0..3, coins inserted
    active,              \* 0..1
    below_zero,          \* -1..1
    faults_lost_request  \* 0..1, faults so far: lost-request

vars == <<init, coins, active, below_zero, faults_lost_request>>

Locked == 0
Open == 1

Domains ==
    /\ init \in 0..2
    /\ coins \in 0..3
    /\ active \in 0..1
    /\ below_zero \in -1..1
    /\ faults_lost_request \in 0..1

Init ==
    /\ init = Locked
    /\ coins = 0
    /\ active = 1
    /\ below_zero = -1
    /\ faults_lost_request = 0

\* There is no room for another coin.
full == coins >= 3 /\ active = 1

\* somebody
next ==
    /\ ~full
    /\ coins < 3
    /\ init' = IF init = Locked THEN Open ELSE init
    /\ coins' = coins + 1
    /\ UNCHANGED <<active, below_zero, faults_lost_request>>

\* somebody
push_person_1 ==
    /\ init = Open
    /\ coins > 0
    /\ init' = IF coins > 1 THEN Open ELSE Locked
    /\ coins' = coins - 1
    /\ below_zero' = IF below_zero = 1 \/ coins + init > 4 THEN -1 ELSE below_zero + 1
    /\ UNCHANGED <<active, faults_lost_request>>

\* somebody
push_person_minus_2 ==
    /\ init = Open
    /\ coins > 0
    /\ active = 0
    /\ init' = IF coins > 1 THEN Open ELSE Locked
    /\ coins' = coins - 1
    /\ below_zero' = IF below_zero = 1 \/ coins + init > 4 THEN -1 ELSE below_zero + 1
    /\ UNCHANGED <<active, faults_lost_request>>

\* somebody
swap ==
    /\ coins <= 2
    /\ active = 1
    /\ init' = coins
    /\ coins' = init
    /\ UNCHANGED <<active, below_zero, faults_lost_request>>

\* somebody
swallow ==
    /\ coins > 0
    /\ faults_lost_request = 0
    /\ coins' = coins - 1
    /\ active' = IF active = 0 THEN 1 ELSE 0
    /\ faults_lost_request' = faults_lost_request + 1
    /\ UNCHANGED <<init, below_zero>>

Next ==
    \/ next
    \/ push_person_1
    \/ push_person_minus_2
    \/ swap
    \/ swallow

Spec == Init /\ [][Next]_vars

\* no-free-ride: Nobody passes without a coin.
NoFreeRide == init /= 2 \/ coins /= 0

\* TypeOk
TypeOk == TRUE

\* open-again
\* No invariant: from every reachable state such a state must be reachable without another fault.
OpenAgain == active = 1 => init /= Locked

===========================================================
