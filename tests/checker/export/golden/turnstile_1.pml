/*
 * A turnstile.
 *
 * To count the states (without -o2 SPIN counts too few; -fno-thread-jumps spares gcc minutes):
 *     spin -o2 -a turnstile_1.pml
 *     gcc -O2 -fno-thread-jumps -DSAFETY -DNOREDUCE -o pan pan.c
 *     ./pan -E -m10000000
 * To find a shortest run to a violation of a property, and to follow it:
 *     spin -o2 -a -DASSERT_NO_FREE_RIDE turnstile_1.pml
 *     gcc -O2 -fno-thread-jumps -DSAFETY -DNOREDUCE -DREACH -o pan pan.c
 *     ./pan -E -i -m100000
 *     spin -t -p -g -DASSERT_NO_FREE_RIDE turnstile_1.pml
 */

#define LOCKED 0
#define OPEN 1

byte init_ = LOCKED;         /* 0..2 */
byte coins = 0;              /* 0..3, coins inserted */
bit active_ = 1;             /* 0..1 */
short below_zero = -1;       /* -1..1 */
bit faults_lost_request = 0; /* 0..1, faults so far: lost-request */

/* Used within one step only: no part of the state. */
hidden int new_init;

/* There is no room for another coin. */
#define full_ (coins >= 3 && active_ == 1)

/* no-free-ride: Nobody passes without a coin. */
#define no_free_ride (init_ != 2 || coins != 0)

/* TypeOk */
#define type_ok (true)

/* open-again
 * No invariant: from every reachable state such a state must be reachable without another fault. */
#define open_again (active_ == 0 || init_ != LOCKED)

active proctype pipeline()
{
    do
    /* next_
     * somebody */
    :: d_step { !full_ && coins < 3 ->
           if :: init_ == LOCKED -> init_ = OPEN :: else fi;
           coins = coins + 1
       }
    /* push_person_1
     * somebody */
    :: d_step { init_ == OPEN && coins > 0 ->
           below_zero = (below_zero == 1 || coins + init_ > 4 -> -1 : below_zero + 1);
           init_ = (coins > 1 -> OPEN : LOCKED);
           coins = coins - 1
       }
    /* push_person_minus_2
     * somebody */
    :: d_step { init_ == OPEN && coins > 0 && active_ == 0 ->
           below_zero = (below_zero == 1 || coins + init_ > 4 -> -1 : below_zero + 1);
           init_ = (coins > 1 -> OPEN : LOCKED);
           coins = coins - 1
       }
    /* swap
     * somebody */
    :: d_step { coins <= 2 && active_ == 1 ->
           new_init = coins;
           coins = init_;
           init_ = new_init
       }
    /* swallow
     * somebody */
    :: d_step { coins > 0 && faults_lost_request == 0 ->
           coins = coins - 1;
           active_ = (active_ == 0 -> 1 : 0);
           faults_lost_request = faults_lost_request + 1
       }
#ifdef ASSERT_NO_FREE_RIDE
    :: d_step { !no_free_ride -> assert(no_free_ride) }
#endif
#ifdef ASSERT_TYPE_OK
    :: d_step { !type_ok -> assert(type_ok) }
#endif
    od
}
